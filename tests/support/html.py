"""A page as a browser reads it: its elements, what could run from them, and where its links lead."""

from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "input", "hr"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.open = [], "", []
        self.sheets = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.sheets.append(data)
        else:
            self.text += data

    def of(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def dangers(self):
        """Whatever could run, load or send."""
        for tag, attrs in self.elements:
            if tag in {"script", "iframe", "object", "embed", "form", "base", "link", "foreignobject", "input"}:
                yield tag
            for name, value in attrs.items():
                outward = name in {"src", "href", "srcset", "action"} and not (value or "").startswith(
                    ("#", "data:image/")
                )
                if name.startswith("on") or name in {"style", "srcdoc"} or outward:
                    yield f"{tag} {name}={value}"
