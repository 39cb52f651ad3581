# Stands in for what surrounds Open WebUI's routers: its environment, its database with the settings of
# an administrator, sign-in, events, and its store of files. The package itself cannot start without
# them; nothing here sends a request, or sees one.
import asyncio
import logging
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

logging.disable(logging.CRITICAL)

# The settings that an administrator has stored, by Open WebUI's own keys.
settings = {
    "audio.stt.supported_content_types": [],
    "audio.stt.allowed_extensions": [],
    "audio.stt.openai.api_request_format": "multipart",
}
# The files that a user has, by id.
stored = {}
folder = Path(tempfile.mkdtemp(prefix="open-webui-"))


def stand_in(name, **members):
    module = ModuleType(f"open_webui.{name}")
    vars(module).update(members)
    sys.modules[module.__name__] = module


class Config:
    @staticmethod
    async def get(key, default=None):
        return settings.get(key, default)

    @staticmethod
    async def get_many(*keys):
        return {key: settings.get(key) for key in keys}


async def upload_file_handler(request, file, metadata, process, user):
    await asyncio.sleep(0)
    file_id = str(len(stored))
    stored[file_id] = await file.read()
    meta = {"name": file.filename, "content_type": file.headers["content-type"]}
    return SimpleNamespace(id=file_id, filename=file.filename, meta=meta)


async def publish_event(*_arguments, **_fields):
    await asyncio.sleep(0)


def unused(*_arguments, **_fields):
    raise AssertionError("the test needs none of it")


class Anything:
    """Names of events and of kinds of sessions, which nothing reads."""

    def __getattr__(self, name):
        return name


package = ModuleType("open_webui")
package.__path__ = list(find_spec("open_webui").submodule_search_locations)
sys.modules["open_webui"] = package

# The defaults of the package, but for USE_SLIM_DOCKER, with which it needs no codecs.
stand_in(
    "env",
    AIOHTTP_CLIENT_ALLOW_REDIRECTS=False,
    AIOHTTP_CLIENT_SESSION_SSL=True,
    AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT=None,
    AIOHTTP_CLIENT_TIMEOUT=300,
    AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST=10,
    AIOHTTP_FILE_STREAM_CHUNK_SIZE=65536,
    AIOHTTP_POOL_CONNECTIONS=100,
    AIOHTTP_POOL_CONNECTIONS_PER_HOST=30,
    AIOHTTP_POOL_DNS_TTL=300,
    BYPASS_MODEL_ACCESS_CONTROL=False,
    BYPASS_PYDUB_PREPROCESSING=True,
    CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE=None,
    DEVICE_TYPE="cpu",
    ENABLE_FORWARD_USER_INFO_HEADERS=False,
    ENABLE_ORJSON=False,
    ENV="prod",
    USE_SLIM=True,
)
stand_in(
    "config",
    BYPASS_ADMIN_ACCESS_CONTROL=True,
    CACHE_DIR=folder,
    DEFAULT_REALTIME_CALL_PROMPT_TEMPLATE="",
    DEFAULT_REALTIME_TTS_PROMPT_TEMPLATE="",
    ELEVENLABS_API_BASE_URL="https://api.elevenlabs.io",
    ENABLE_OPENAI_IMAGE_EDIT_NORMALIZATION=True,
    IMAGE_AUTO_SIZE_MODELS_REGEX_PATTERN="^gpt-image",
    IMAGE_URL_RESPONSE_MODELS_REGEX_PATTERN="^gpt-image",
    WHISPER_COMPUTE_TYPE="int8",
    WHISPER_LANGUAGE="",
    WHISPER_MODEL_AUTO_UPDATE=False,
    WHISPER_MODEL_DIR=folder,
    WHISPER_MULTILINGUAL=False,
    WHISPER_VAD_FILTER=False,
)
stand_in("events", EVENTS=Anything(), publish_event=publish_event)
stand_in("internal.db", get_async_session=unused)
stand_in("models.chats", Chats=Anything())
stand_in("models.config", Config=Config)
stand_in("models.models", Models=Anything(), ModelVoice=Anything())
stand_in("retrieval.web.utils", get_ssrf_safe_session=unused, validate_url=unused)
stand_in("routers.files", get_file_content_by_id=unused, upload_file_handler=upload_file_handler)
stand_in("utils.access_control", has_permission=unused)
stand_in(
    "utils.auth",
    get_admin_user=unused,
    get_verified_user=unused,
    get_verified_user_by_token=unused,
)
stand_in(
    "utils.headers",
    get_microsoft_entra_id_access_token=unused,
    include_user_info_headers=unused,
)
stand_in("utils.models", check_model_access=unused, get_all_models=unused)
stand_in("utils.voice_avatar", avatar_animation_tools=unused)
