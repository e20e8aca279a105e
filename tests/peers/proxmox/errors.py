"""errors.py: the refusals of the API: the code, the reason phrase on the status line, and what the body says."""


class Refusal(Exception):
    code = 500

    def __init__(self, reason, errors=None):
        super().__init__(reason)
        self.reason, self.errors = reason, errors


class Failure(Refusal):
    """Whatever went wrong inside."""


class Parameter(Refusal):
    code = 400

    def __init__(self, **errors):
        super().__init__("Parameter verification failed.", errors)


class NoLogin(Refusal):
    code = 401


class Forbidden(Refusal):
    code = 403


class NotThere(Refusal):
    code = 501


class NoAnswer(Refusal):
    """Of the node that the request is forwarded to. There is no JSON."""
    code = 595
