import base64
import json
import os

from openai import OpenAI
from reporting import report

client = OpenAI(base_url=os.environ["TOLLGATE_URL"] + "/v1", api_key=os.environ["TOLLGATE_KEY"])
prompt = "A lighthouse at dusk"
png = "iVBORw0KGgo"
transcript = os.environ["TRANSCRIPT"]
sound = base64.b64decode(os.environ["SOUND"])
picture = ("lighthouse.png", base64.b64decode(os.environ["PICTURE"]), "image/png")
recording = ("talk.wav", base64.b64decode(os.environ["RECORDING"]), "audio/wav")


def list_in(name):
    return json.loads(os.environ[name])


def expect_images(answer, count):
    assert len(answer.data) == count, f"{len(answer.data)} images"
    assert all(each.b64_json.startswith(png) for each in answer.data), "no PNG"


def expect_events(stream, prefix, partials):
    events = list(stream)
    assert all(event.b64_json.startswith(png) for event in events), "no PNG"
    types = [event.type for event in events]
    assert types == [f"{prefix}.partial_image"] * partials + [f"{prefix}.completed"], types


def images():
    for model in list_in("IMAGE_MODELS"):
        answer = client.images.generate(
            model=model, prompt=prompt, n=2, size="1024x1024", response_format="b64_json"
        )
        expect_images(answer, 2)


def images_stream():
    for index, model in enumerate(list_in("IMAGE_MODELS")):
        stream = client.images.generate(
            model=model, prompt=prompt, response_format="b64_json", stream=True, partial_images=2
        )
        expect_events(stream, "image_generation", 2 if index == 0 else 0)


def edits():
    for model in list_in("EDIT_MODELS"):
        expect_images(client.images.edit(model=model, prompt=prompt, image=picture), 1)
        expect_images(client.images.edit(model=model, prompt=prompt, image=[picture, picture]), 1)


def edits_stream():
    for index, model in enumerate(list_in("EDIT_MODELS")):
        fields = {"partial_images": 2} if index == 0 else {}
        stream = client.images.edit(
            model=model, prompt=prompt, image=picture, stream=True, **fields
        )
        expect_events(stream, "image_edit", 2 if index == 0 else 0)


def variations():
    for each in list_in("VARIATIONS"):
        model, form = each["model"], each["format"]
        create = client.images.create_variation
        answer = create(model=model, image=picture, n=2, response_format=form)
        if form == "b64_json":
            expect_images(answer, 2)
        else:
            addresses = [one.url for one in answer.data if one.url.startswith("https://")]
            assert len(addresses) == 2, answer


def asked_of(speaker):
    fields = {"model": speaker["model"], "voice": speaker["voice"], "input": "Hello"}
    return {**fields, "response_format": speaker["format"]}


def speech():
    for speaker in list_in("SPEAKERS"):
        answer = client.audio.speech.create(**asked_of(speaker))
        # A WAV file begins with a header.
        assert sound in answer.content, f"another sound of {speaker}"


def speech_stream():
    for speaker in list_in("SPEAKERS"):
        asked = asked_of(speaker)
        with client.audio.speech.with_streaming_response.create(**asked) as answer:
            streamed = b"".join(answer.iter_bytes())
        assert sound in streamed, f"another sound of {speaker}"
        events = client.audio.speech.create(**asked, stream_format="sse").text
        assert "speech.audio.done" in events, events[-200:]


def transcriptions():
    for model in list_in("TRANSCRIPTION_MODELS"):
        create = client.audio.transcriptions.create
        assert create(model=model, file=recording).text == transcript, model
        verbose = create(
            model=model,
            file=recording,
            response_format="verbose_json",
            timestamp_granularities=["segment"],
        )
        assert len(verbose.segments) == 2, verbose
        srt = create(model=model, file=recording, response_format="srt")
        assert srt.startswith("1\n00:00:00,000 --> "), srt


def transcriptions_stream():
    for model in list_in("TRANSCRIPTION_MODELS"):
        events = list(client.audio.transcriptions.create(model=model, file=recording, stream=True))
        deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
        assert "".join(deltas) == transcript == events[-1].text, (model, deltas)


def translations():
    for model in list_in("TRANSLATION_MODELS"):
        create = client.audio.translations.create
        assert create(model=model, file=recording).text == transcript, model
        srt = create(model=model, file=recording, response_format="srt")
        assert srt.startswith("1\n00:00:00,000 --> "), srt


def moderations():
    for model in list_in("MODERATION_MODELS"):
        texts = ["Good morning", "Plain violence_and_threats"]
        results = client.moderations.create(model=model, input=texts).results
        # `flagged` is OpenAI's alone.
        found = [True in each.categories.model_dump().values() for each in results]
        assert found == [False, True], results


report(
    images, images_stream, edits, edits_stream, variations, speech, speech_stream,
    transcriptions, transcriptions_stream, translations, moderations,
)
