import json
import os

from cohere.core.api_error import ApiError
from langchain_cohere import CohereRerank
from langchain_core.documents import Document
from reporting import report

key = os.environ["TOLLGATE_KEY"]
models = json.loads(os.environ["RERANK_MODELS"])
query = "capital of France"
texts = ["Berlin lies on the Spree", "the capital of France is Paris", "of all capitals"]
documents = [Document(page_content=text) for text in texts]


def reranker_of(model, api_key=key, **fields):
    url = os.environ["TOLLGATE_URL"]
    return CohereRerank(model=model, cohere_api_key=api_key, base_url=url, **fields)


def rank_all(places, **fields):
    """Ranks with the models of every format."""
    for model in models:
        reranker = reranker_of(model, **fields)
        ranking = reranker.rerank(documents, query)
        assert [each["index"] for each in ranking] == places, (model, ranking)
        best = reranker.compress_documents(documents, query)[0]
        assert best.page_content == texts[1], best
        assert best.metadata["relevance_score"] == 1, best


def fails(reranker, status):
    """The call must fail with this status."""
    try:
        reranker.rerank(documents, query)
    except ApiError as error:
        assert error.status_code == status, f"status {error.status_code}, not {status}"
    else:
        raise AssertionError("the call did not fail")


def rank():
    rank_all([1, 2, 0])


def top():
    rank_all([1], top_n=1)


def error_401():
    fails(reranker_of(models[0], "sk-wrong"), 401)


def error_404():
    fails(reranker_of(os.environ["UNKNOWN_MODEL"]), 404)


report(rank, top, error_401, error_404)
