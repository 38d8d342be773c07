"""One module a page: plain function views that ask services and render."""
