"""What a client process is told."""

import argparse


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--commits", action="store_true", help="floor: with a store")
    parser.add_argument("--syncs", action="store_true", help="interlock: count syncs; it costs a little")
    parser.add_argument("--resume", action="store_true", help="go on with the session that the journal holds")
    parser.add_argument("--announce", action="store_true", help="say first when the imports were through")
    return parser.parse_args()
