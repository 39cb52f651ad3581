"""Serves ClickHouse's engine, from the package chdb, over the part of the HTTP interface that Tollgate uses.

Usage: clickhouse_engine.py PORT. It listens on 127.0.0.1, keeps its data in a temporary directory, and takes any user.
The engine executes every statement as a ClickHouse server does; the protocol around it is this program's.
"""

import gzip
import re
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

lock = threading.Lock()
engine = session.Session(tempfile.mkdtemp(prefix="chdb-"))
skipped = {"query", "query_id", "wait_end_of_query", "cancel_http_readonly_queries_on_client_close"}


def execute(database, url, body):
    """Runs one statement in a database, which is created on its first use."""
    query = dict(url)
    engine.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    engine.query(f"USE {database}")
    settings = {name: value for name, value in url if not name.startswith("param_") and name not in skipped}
    for name, value in settings.items():
        engine.query(f"SET {name} = {int(value)}")
    parameters = {name[6:]: value for name, value in url if name.startswith("param_")}
    text = f"{query['query']}\n{body}" if "query" in query else body
    result = engine.query(text, "JSONEachRow", params=parameters) if parameters else engine.query(text, "JSONEachRow")
    return str(result)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        url = parse_qsl(urlsplit(self.path).query, keep_blank_values=True)
        try:
            with lock:
                text = execute(self.headers["x-clickhouse-database"], url, body.decode())
            self.answer(200, text, {})
        except Exception as error:
            text = str(error)
            code = re.search(r"Code: (\d+)", text)
            number = code.group(1) if code else "1002"
            self.answer(404 if number == "60" else 500, text, {"X-ClickHouse-Exception-Code": number})

    def answer(self, status, text, headers):
        payload = text.encode()
        if payload and not payload.endswith(b"\n"):
            payload += b"\n"
        payload = payload.replace(b"\n\n", b"\n")
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_arguments):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
