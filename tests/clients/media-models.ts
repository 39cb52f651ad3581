import { wav } from '../../server/testing/sound-files'
import { upstreamSecret, type Rig } from '../harness/server'
import { pngOf } from '../harness/upstreams/drawings'

type Json = Record<string, unknown>

/** Providers of OpenAI's format that differ in their options. */
const providers: Readonly<Record<string, Json>> = {
  'openai-like': { images: { dataModels: ['ok'] } },
  'together-like': { images: { size: 'sides', base64: 'base64' } },
  'form-like': { images: { edits: 'form' } },
  'mistral-like': { transcriptionFormat: 'mistral', moderationImages: false },
  'cloudflare-like': { transcriptionFormat: 'cloudflare' },
  'azure-speech-like': { transcriptionFormat: 'azure_speech' },
  'content-safety-like': { moderationFormat: 'azure_content_safety' },
  'voyage-like': { rerankFormat: 'voyage' },
  'tei-like': { rerankFormat: 'tei' },
}

/** Providers with a format of their own; those of Cohere are below the address of the host. */
const ownFormats = ['google', 'bedrock', 'bfl', 'deepgram', 'elevenlabs', 'cohere']

const image = { category: 'image', pricing: { input: 0, output: 0, made_image: 0.04 } }
const changed = { input: 5, output: 0, image_input: 10, image_output: 40 }
const edited = { category: 'image', pricing: changed, max_output_tokens: null }
const drawn = { category: 'image', pricing: { input: 2, output: 12, image_output: 120 } }
const speech = { category: 'speech', pricing: { input: 0, output: 0, input_characters: 15 } }
const spokenTokens = { category: 'speech', pricing: { input: 0.6, output: 0, audio_output: 12 } }
const transcription = {
  category: 'transcription',
  pricing: { input: 0, output: 0, audio_hour: 0.36 },
}
const moderation = { category: 'moderation', pricing: { input: 1, output: 0 } }
const rerank = { category: 'rerank', pricing: { input: 1, output: 0 } }
const searched = { category: 'rerank', pricing: { input: 0, output: 0, search: 0.002 } }

const behavesAs = (upstream_model: string, fields: Json): Json => ({ ...fields, upstream_model })

/** Models at the fake provider, each in the format of its provider. */
const models: Readonly<Record<string, Json>> = {
  'openai-like/ok': edited,
  'together-like/draw-together': image,
  'form-like/edit-form': edited,
  'form-like/varied': behavesAs('ok', image),
  'google/imagen-4.0-media': image,
  'google/gemini-3.5-media-image': drawn,
  'bedrock/amazon.nova-canvas-v1:0': image,
  'openai-like/spoken': behavesAs('ok', spokenTokens),
  'google/spoken': behavesAs('ok', spokenTokens),
  'deepgram/spoken': behavesAs('aura-2', speech),
  'elevenlabs/spoken': behavesAs('ok', speech),
  'openai-like/heard': behavesAs('hear-tokens', transcription),
  'openai-like/whisper': behavesAs('ok', transcription),
  'mistral-like/hear-mistral': transcription,
  'deepgram/heard': behavesAs('ok', transcription),
  'elevenlabs/heard': behavesAs('ok', transcription),
  'cloudflare-like/whisper': behavesAs('@cf/openai/whisper-large-v3-turbo', transcription),
  'azure-speech-like/llm-speech': transcription,
  'openai-like/judge': behavesAs('ok', moderation),
  'mistral-like/moderate-mistral': moderation,
  'content-safety-like/severities': moderation,
  'openai-like/rank': behavesAs('ok', rerank),
  'voyage-like/rank-voyage': rerank,
  'tei-like/rank-tei': rerank,
  'cohere/rank-cohere': searched,
}

/** Lists that programs read in their environment, as JSON. The first model of each list streams by itself. */
const lists = {
  IMAGE_MODELS: [
    'openai-like/ok',
    'together-like/draw-together',
    'google/imagen-4.0-media',
    'google/gemini-3.5-media-image',
    'bedrock/amazon.nova-canvas-v1:0',
  ],
  EDIT_MODELS: ['openai-like/ok', 'form-like/edit-form', 'google/gemini-3.5-media-image'],
  // Black Forest Labs gives addresses.
  VARIATIONS: [
    { model: 'form-like/varied', format: 'b64_json' },
    { model: 'bedrock/amazon.nova-canvas-v1:0', format: 'b64_json' },
    { model: 'bfl/flux-pro-1.1', format: 'url' },
  ],
  SPEAKERS: [
    { model: 'openai-like/spoken', voice: 'alloy', format: 'mp3' },
    { model: 'google/spoken', voice: 'Kore', format: 'wav' },
    { model: 'deepgram/spoken', voice: 'thalia', format: 'mp3' },
    { model: 'elevenlabs/spoken', voice: 'JBFqnCBsd6RMkjVDRZzb', format: 'mp3' },
  ],
  TRANSCRIPTION_MODELS: [
    'openai-like/heard',
    'mistral-like/hear-mistral',
    'deepgram/heard',
    'elevenlabs/heard',
  ],
  TRANSLATION_MODELS: [
    'openai-like/whisper',
    'cloudflare-like/whisper',
    'azure-speech-like/llm-speech',
  ],
  MODERATION_MODELS: [
    'openai-like/judge',
    'mistral-like/moderate-mistral',
    'content-safety-like/severities',
  ],
  RERANK_MODELS: [
    'openai-like/rank',
    'voyage-like/rank-voyage',
    'tei-like/rank-tei',
    'cohere/rank-cohere',
  ],
}

/** Adds models of images, sound, moderation and ranking, and returns the variables that name them. */
export async function addMediaModels({ gateway, upstream }: Rig): Promise<Record<string, string>> {
  const connect = (provider: string, address?: string) =>
    gateway.admin('POST', '/connections', {
      name: provider,
      provider,
      api_key: upstreamSecret,
      ...(address !== undefined && { endpoint_url: address }),
    })
  for (const [key, options] of Object.entries(providers)) {
    const fields = { key, name: key, adapter: 'openai', base_url: upstream.url, options }
    await gateway.admin('POST', '/providers', fields)
    await connect(key)
  }
  const host = upstream.url.replace(/\/v1$/, '')
  for (const key of ownFormats) await connect(key, key === 'cohere' ? host : upstream.url)
  for (const [id, fields] of Object.entries(models))
    await gateway.admin('POST', '/models', { id, name: id, ...fields })
  const named = Object.entries(lists).map(([name, list]): [string, string] => [
    name,
    JSON.stringify(list),
  ])
  return {
    ...Object.fromEntries(named),
    PICTURE: pngOf(64, 64),
    RECORDING: wav(1).toString('base64'),
    TRANSCRIPT: 'Hello there. General Kenobi!',
  }
}
