"""Two sites in network namespaces, joined by a veth pair, with a gateway or wireguard-go at each.

It takes root, iproute2 and, for measurements, iperf3. Everything that it makes is removed at the end.
"""

import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

OUTER = ["192.0.2.1", "192.0.2.2"]
INNER = ["10.1.0.1", "10.2.0.1"]
TICK = os.sysconf("SC_CLK_TCK")


def need(*programs):
    """Ends with the reason if something is missing."""
    if os.geteuid() != 0:
        sys.exit("it takes root, for network namespaces")
    for program in programs:
        if shutil.which(program) is None:
            sys.exit(f"there is no program {program!r}")


def run(*words, **more):
    """Runs a command, and returns what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def cpu(pid):
    """The seconds of processor time that a process has used, threads that ended included."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid):
    """The bytes of memory that a process has in use."""
    pages = pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Sites:
    """Two namespaces, and what runs in them."""

    def __init__(self):
        # A signal raises an exception, so namespaces are removed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
        self.prefix = "gw" + secrets.token_hex(3)
        self.ends = [f"{self.prefix}a", f"{self.prefix}b"]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=self.prefix))
        self.running = []

    def __enter__(self):
        try:
            for end in self.ends:
                run("ip", "netns", "add", end)
            a, b = self.ends
            run("ip", "link", "add", "w", "netns", a, "type", "veth", "peer", "name", "w", "netns", b)
            for end, address in zip(self.ends, OUTER):
                run("ip", "-n", end, "address", "add", f"{address}/24", "dev", "w")
                run("ip", "-n", end, "link", "set", "w", "up")
                run("ip", "-n", end, "link", "set", "lo", "up")
        except SystemExit:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()
        for end in self.ends:
            subprocess.run(["ip", "netns", "delete", end], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, end, *words, **more):
        """Starts a program at one end."""
        words = ["ip", "netns", "exec", self.ends[end], *map(str, words)]
        more.setdefault("stdout", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.DEVNULL)
        process = subprocess.Popen(words, **more)
        self.running.append(process)
        return process

    def at(self, end, *words, **more):
        """Runs a command at one end, and returns what it prints."""
        return run("ip", "netns", "exec", self.ends[end], *map(str, words), **more)

    def end(self, process):
        """Ends a program."""
        self.running.remove(process)
        process.kill()
        process.wait()

    def gateways(self, program, peer="", gateway=""):
        """Starts a gateway at each end. Returns their processes, when the tunnel is under control.

        `peer` and `gateway` are lines that the site files have in these sections in addition.
        """
        keys = [run(program, "gateway", "keys", self.folder / f"{i}.key").strip() for i in (0, 1)]
        for i, other in ((0, 1), (1, 0)):
            (self.folder / f"{i}.toml").write_text(
                f'[gateway]\nkey = "{i}.key"\nlisten = "{OUTER[i]}:51820"\ndevice = "gw0"\n'
                f'address = ["{INNER[i]}/24"]\nstatus = "{i}.sock"\n{gateway}\n'
                f'[peer.other]\npublic_key = "{keys[other]}"\nendpoint = "{OUTER[other]}:51820"\n'
                f'networks = ["10.{other + 1}.0.0/24"]\n{peer}\n'
            )
        processes = []
        for i in (0, 1):
            log = open(self.folder / f"{i}.log", "w")
            processes.append(self.start(i, program, "gateway", "run", self.folder / f"{i}.toml", stderr=log))
        deadline = time.monotonic() + 15
        while [p["state"] for i in (0, 1) for p in self.status(program, i)] != ["controlled"] * 2:
            if time.monotonic() > deadline:
                sys.exit("the gateways do not join:\n" + (self.folder / "0.log").read_text())
            time.sleep(0.1)
        return processes

    def status(self, program, end):
        """The peers of the gateway at one end, as its status has them."""
        words = [program, "gateway", "status", str(self.folder / f"{end}.toml"), "--json"]
        done = subprocess.run(words, capture_output=True, text=True)
        return json.loads(done.stdout)["peers"] if done.returncode == 0 else []

    def wireguards(self, program):
        """Starts wireguard-go at each end. Returns their processes."""
        keys = [run("wg", "genkey").strip() for _ in (0, 1)]
        publics = [run("wg", "pubkey", input=key).strip() for key in keys]
        processes = []
        for i, other in ((0, 1), (1, 0)):
            # The name is that of a socket in /var/run, too, which has no namespace.
            device = f"{self.prefix}{i}"
            processes.append(self.start(i, program, "-f", device, env={**os.environ, "LOG_LEVEL": "error"}))
            deadline = time.monotonic() + 5
            while not pathlib.Path(f"/var/run/wireguard/{device}.sock").exists():
                if time.monotonic() > deadline:
                    sys.exit(f"{program} does not start")
                time.sleep(0.05)
            key = self.folder / f"{i}.wg"
            key.write_text(keys[i])
            self.at(
                i, "wg", "set", device, "private-key", key, "listen-port", 51820, "peer", publics[other],
                "endpoint", f"{OUTER[other]}:51820", "allowed-ips", f"10.{other + 1}.0.0/24",
            )
            self.at(i, "ip", "address", "add", f"{INNER[i]}/24", "dev", device)
            self.at(i, "ip", "link", "set", device, "mtu", 1420, "up")
            self.at(i, "ip", "route", "add", f"10.{other + 1}.0.0/24", "dev", device)
        return processes

    def iperf3(self, seconds, *more):
        """Runs iperf3 from the first end to the second through the tunnel. Returns its results."""
        server = self.start(1, "iperf3", "-s", "-1", "-B", INNER[1])
        time.sleep(0.3)
        words = ["ip", "netns", "exec", self.ends[0], "iperf3", "-J", "-c", INNER[1], "-t", str(seconds), *more]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds + 20)
        except subprocess.TimeoutExpired:
            sys.exit("iperf3 does not end")
        finally:
            self.end(server)
        results = json.loads(done.stdout)
        if "error" in results:
            sys.exit(f"iperf3: {results['error']}")
        return results["end"]
