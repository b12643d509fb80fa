import os
import socket


def make(submission, part, file):
    file.unlink()
    here = os.getcwd()
    os.chdir(part)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(file.name)
    os.chdir(here)
