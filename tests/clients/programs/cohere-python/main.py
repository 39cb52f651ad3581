import json
import os

import cohere
from cohere.core.api_error import ApiError
from reporting import report

url = os.environ["TOLLGATE_URL"]
key = os.environ["TOLLGATE_KEY"]
models = json.loads(os.environ["RERANK_MODELS"])
query = "capital of France"
documents = ["Berlin lies on the Spree", "the capital of France is Paris", "of all capitals"]


def clients_of(api_key):
    # The SDK puts `/v1` or `/v2` behind the address.
    return [each(api_key=api_key, base_url=url) for each in (cohere.Client, cohere.ClientV2)]


def rank_all(places, **fields):
    """Ranks with the models of every format, and with both versions of the API."""
    for model in models:
        for client in clients_of(key):
            answer = client.rerank(model=model, query=query, documents=documents, **fields)
            assert [each.index for each in answer.results] == places, (model, answer)
            assert answer.results[0].relevance_score == 1, (model, answer)
            assert answer.id, (model, answer)


def fails(api_key, model, status):
    """The call must fail with this status."""
    for client in clients_of(api_key):
        try:
            client.rerank(model=model, query=query, documents=documents)
        except ApiError as error:
            assert error.status_code == status, f"status {error.status_code}, not {status}"
        else:
            raise AssertionError("the call did not fail")


def rank():
    rank_all([1, 2, 0])


def top():
    rank_all([1], top_n=1)


def error_401():
    fails("sk-wrong", models[0], 401)


def error_404():
    fails(key, os.environ["UNKNOWN_MODEL"], 404)


report(rank, top, error_401, error_404)
