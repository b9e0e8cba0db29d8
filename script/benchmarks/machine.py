"""A description of the machine, without which a time means nothing."""

import os
import platform
import subprocess


def _first(path, key):
    try:
        with open(path) as file:
            for line in file:
                if line.startswith(key):
                    return line.split(":" if ":" in line else "=", 1)[1].strip().strip('"')
    except OSError:
        pass
    return None


def _said(words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None


def _file_system(path):
    """As the mount says; stat(1) tells ext2, ext3 and ext4 by a number that all three have."""
    best, kind = "", None
    try:
        with open("/proc/self/mounts") as mounts:
            for line in mounts:
                _, folder, name, *_ = line.split()
                if os.path.commonpath([folder, os.path.realpath(path)]) == folder and len(folder) >= len(best):
                    best, kind = folder, name
    except (OSError, ValueError):
        pass
    return kind or _said(["stat", "--file-system", "--format=%T", path]) or "unknown"


def describe(folder, pipectl):
    """Facts as a dictionary; `folder` is where the measurements write."""
    kibibytes = _first("/proc/meminfo", "MemTotal")
    return {
        "system": _first("/etc/os-release", "PRETTY_NAME") or platform.platform(),
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "memory": f"{int(kibibytes.split()[0]) >> 20} GiB" if kibibytes else None,
        "fileSystem": _file_system(folder),
        "load": os.getloadavg()[0],
        "pipectl": _said([pipectl, "--version"]),
        "git": _said(["git", "--version"]),
    }


def sentence(facts):
    return (
        f"{facts['cores']} cores ({facts['processor']}), {facts['memory']}, {facts['system']}, {facts['kernel']}, "
        f"{facts['fileSystem']}; load {facts['load']:.1f} at the start; pipectl {facts['pipectl']}, {facts['git']}")
