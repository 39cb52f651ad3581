# Runs the functions of Open WebUI behind its settings for images and audio, unmodified, as an
# administrator sets them to Tollgate: its routers, its codec and its pool of connections are those of
# the package. What stands in for its surroundings is in `surroundings.py`.
import asyncio
import base64
import io
import json
import os
from types import SimpleNamespace

import surroundings

from fastapi import HTTPException
from starlette.datastructures import Headers, UploadFile
from reporting import Cannot, report
from open_webui.routers import audio as audio_router
from open_webui.routers import images as images_router
from open_webui.utils.session_pool import close_session

base_url = os.environ["TOLLGATE_URL"] + "/v1"
api_key = os.environ["TOLLGATE_KEY"]
picture = base64.b64decode(os.environ["PICTURE"])
recording = base64.b64decode(os.environ["RECORDING"])
sound = base64.b64decode(os.environ["SOUND"])
unknown = os.environ["UNKNOWN_MODEL"]
user = SimpleNamespace(id="1", role="admin", name="Admin", email="admin@example.com")
app = SimpleNamespace(url_path_for=lambda name, **fields: "/api/v1/files/" + fields["id"])


def list_in(name):
    return json.loads(os.environ[name])


def request(body=b""):
    async def read():
        return body

    return SimpleNamespace(app=app, body=read)


def run(work):
    async def alone():
        try:
            return await work
        finally:
            await close_session()

    return asyncio.run(alone())


def fails(call, words):
    try:
        call()
    except HTTPException as error:
        assert words in str(error.detail), error.detail
    else:
        raise AssertionError("it did not fail")


def set_images(model):
    surroundings.settings.update({
        "image_generation.enable": True,
        "image_generation.engine": "openai",
        "image_generation.model": model,
        "image_generation.size": "1024x1024",
        "image_generation.openai.api_base_url": base_url,
        "image_generation.openai.api_key": api_key,
        "images.edit.enable": True,
        "images.edit.engine": "openai",
        "images.edit.model": model,
        "images.edit.openai.api_base_url": base_url,
        "images.edit.openai.api_key": api_key,
    })


def expect_stored(found, count):
    assert len(found) == count, found
    for image in found:
        content = surroundings.stored[image["id"]]
        assert content.startswith(b"\x89PNG") and image["content_type"] == "image/png", image


def images():
    for model in list_in("IMAGE_MODELS"):
        set_images(model)
        form = images_router.CreateImageForm(prompt="A lighthouse at dusk", n=2)
        expect_stored(run(images_router.generate_images(request(), form, user)), 2)


def edits():
    data_url = "data:image/png;base64," + base64.b64encode(picture).decode()
    for model in list_in("EDIT_MODELS"):
        set_images(model)
        for image in (data_url, [data_url, data_url]):
            form = images_router.EditImageForm(image=image, prompt="At dusk")
            expect_stored(run(images_router.edit_images(request(), form, user)), 1)


def speech():
    for speaker in list_in("SPEAKERS"):
        surroundings.settings.update({
            "audio.tts.engine": "openai",
            "audio.tts.model": speaker["model"],
            "audio.tts.voice": speaker["voice"],
            "audio.tts.openai.api_base_url": base_url,
            "audio.tts.openai.api_key": api_key,
            "audio.tts.openai.params": {"response_format": speaker["format"]},
        })
        body = json.dumps({"input": "Hello"}).encode()
        answer = run(audio_router.speech(request(body), user))
        with open(answer.path, "rb") as file:
            assert sound in file.read(), f"another sound of {speaker}"
    # Of an error it shows the status alone.
    surroundings.settings["audio.tts.model"] = unknown
    fails(lambda: run(audio_router.speech(request(b'{"input": "Hi"}'), user)), "404")


def set_transcriptions(model):
    surroundings.settings.update({
        "audio.stt.engine": "openai",
        "audio.stt.model": model,
        "audio.stt.openai.api_base_url": base_url,
        "audio.stt.openai.api_key": api_key,
    })


def transcribe(language=None):
    headers = Headers({"content-type": "audio/wav"})
    file = UploadFile(io.BytesIO(recording), filename="talk.wav", headers=headers)
    return run(audio_router.transcription(request(), file, language, user))


def transcriptions():
    for model in list_in("TRANSCRIPTION_MODELS"):
        set_transcriptions(model)
        assert transcribe()["text"] == os.environ["TRANSCRIPT"], model
    assert transcribe("en")["text"] == os.environ["TRANSCRIPT"]
    # Administrators read what Tollgate says.
    set_transcriptions(unknown)
    fails(transcribe, unknown)


def not_offered():
    raise Cannot("not offered")


def images_stream():
    not_offered()


def edits_stream():
    not_offered()


def variations():
    not_offered()


def speech_stream():
    not_offered()


def transcriptions_stream():
    not_offered()


def translations():
    not_offered()


def moderations():
    not_offered()


report(
    images, images_stream, edits, edits_stream, variations, speech, speech_stream,
    transcriptions, transcriptions_stream, translations, moderations,
)
