import asyncio

import pytest

from fsm.providers.silence import Silence


async def with_silence(work):
    silence = Silence()
    try:
        return await work(silence)
    finally:
        silence.close()


def run(work):
    return asyncio.run(with_silence(work))


def test_a_wait_ends_at_its_limit_and_the_task_is_not_cancelled():
    async def work(silence):
        with pytest.raises(TimeoutError), silence.within(0.01):
            await asyncio.sleep(60)
        return asyncio.current_task().cancelling()

    assert run(work) == 0


def test_a_shorter_limit_after_a_longer_one_holds():
    async def work(silence):
        with silence.within(60):
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError), silence.within(0.01):
            await asyncio.sleep(60)

    run(work)


def test_the_limit_is_counted_from_the_last_piece():
    async def work(silence):
        loop = asyncio.get_running_loop()
        now = [loop.time()]
        loop.time = lambda: now[0]
        for _ in range(3):  # the timer of the first wait goes off in the second
            with silence.within(10):
                now[0] += 8
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        last = silence.within(10)
        now[0] += 11
        with pytest.raises(TimeoutError), last:
            await asyncio.sleep(60)

    run(work)


def test_time_between_waits_does_not_count():
    async def work(silence):
        with silence.within(0.01):
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)
        with silence.within(0.01):
            await asyncio.sleep(0)
        return "nobody was cancelled"

    assert run(work) == "nobody was cancelled"


def test_a_cancellation_from_outside_stays_one():
    async def work(silence):
        async def wait():
            with silence.within(60):
                await asyncio.sleep(60)

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work)


def test_a_cancellation_at_the_limit_is_not_swallowed():
    async def work(silence):
        async def wait():
            with silence.within(0.01):
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    asyncio.current_task().cancel()  # somebody else, at the same moment
                    raise

        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(wait())

    run(work)


def test_other_errors_pass_through():
    async def work(silence):
        with pytest.raises(ValueError, match="mine"), silence.within(60):
            raise ValueError("mine")

    run(work)
