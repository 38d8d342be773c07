"""Server-rendered pages and the front end."""
