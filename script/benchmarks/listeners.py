"""Those who follow a daemon's pages: one process that holds many connections, and says what came of them as JSON.

    python3 listeners.py 'JSON'

The JSON names `port` or `unix` (a socket's path), `path`, `headers`, `listeners` (how many hold an event stream open),
`read` (whether they read), `rate` (requests a second on `pages`, a list of paths), `seconds`, and `stop` (a file that
ends it once it exists). Prints a line once all listeners are connected, and at the end one with latencies and bytes.
"""

import asyncio
import json
import os
import resource
import sys
import time


class Listeners:
    def __init__(self, given):
        self.given, self.bytes, self.alive, self.refused = given, 0, 0, 0
        self.latencies, self.statuses, self.tasks = [], {}, []

    async def connect(self):
        if "unix" in self.given:
            return await asyncio.open_unix_connection(self.given["unix"])
        return await asyncio.open_connection("127.0.0.1", self.given["port"], limit=1 << 16)

    def request(self, path, headers, keeps=False):
        lines = [f"GET {path} HTTP/1.1", f"Host: localhost:{self.given.get('port', 80)}",
                 *[f"{name}: {value}" for name, value in headers.items()]]
        if not keeps:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def listen(self, number, ready):
        try:
            reader, writer = await self.connect()
            writer.write(self.request(
                self.given["path"], {"Accept": "text/event-stream", **self.given.get("headers", {})}, True))
            first = await asyncio.wait_for(reader.readline(), 60)
            if b" 200" not in first:
                self.refused += 1
                return
            self.alive += 1
        except (OSError, asyncio.TimeoutError):
            self.refused += 1
            return
        finally:
            ready.release()
        try:
            while self.given.get("read", True):
                data = await reader.read(1 << 16)
                if not data:
                    break
                self.bytes += len(data)
            else:
                await asyncio.sleep(3_600)
        except (OSError, asyncio.CancelledError):
            pass
        self.alive -= 1
        writer.close()

    async def ask(self, path):
        begun = time.perf_counter()
        try:
            reader, writer = await asyncio.wait_for(self.connect(), 30)
            writer.write(self.request(path, self.given.get("headers", {})))
            answer = await asyncio.wait_for(reader.read(-1), 30)
            writer.close()
            status = answer[9:12].decode(errors="replace")
        except (OSError, asyncio.TimeoutError) as error:
            status = type(error).__name__
        self.latencies.append(time.perf_counter() - begun)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    async def ask_at_a_rate(self):
        begun, number = time.perf_counter(), 0
        async with asyncio.TaskGroup() as group:
            while (now := time.perf_counter() - begun) < self.given["seconds"]:
                while number < now * self.given["rate"]:
                    group.create_task(self.ask(self.given["pages"][number % len(self.given["pages"])]))
                    number += 1
                await asyncio.sleep(0.002)

    async def run(self):
        count, ready = self.given.get("listeners", 0), asyncio.Semaphore(0)
        for number in range(count):
            self.tasks.append(asyncio.create_task(self.listen(number, ready)))
            if number % 100 == 99:  # as many as a listening socket lets wait
                for _ in range(100):
                    await ready.acquire()
        for _ in range(count % 100):
            await ready.acquire()
        print(json.dumps({"alive": self.alive, "refused": self.refused}), flush=True)
        if self.given.get("rate"):
            await self.ask_at_a_rate()
        stop = self.given.get("stop")
        while stop and not os.path.exists(stop):
            await asyncio.sleep(0.02)
        print(json.dumps({
            "alive": self.alive, "bytes": self.bytes, "latencies": self.latencies, "statuses": self.statuses
        }), flush=True)
        for task in self.tasks:
            task.cancel()


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(Listeners(json.loads(sys.argv[1])).run())
