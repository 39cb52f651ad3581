import { z } from 'zod'
import { audioFormat } from './content-parts'
import { check, type JsonObject } from './json-body'
import { isSoundName, TranscriptionForm } from './transcription-request'
import { invalidRequest } from '../errors'

/**
 * The sound of a transcription in JSON, as OpenRouter has it.
 * @see https://openrouter.ai/docs/guides/overview/multimodal/stt
 */
const InputAudio = z.looseObject({
  data: z.string().min(1).describe('The file in base64, and no data URL'),
  format: audioFormat.describe('Such as `wav`, `mp3`, `flac`, `m4a`, `ogg`, `webm` or `aac`'),
})

const { file: _file, ...fields } = TranscriptionForm.shape

/** `POST /v1/audio/transcriptions` as JSON, for its description. Source: contract 4.14. */
export const TranscriptionJson = z.looseObject({ ...fields, input_audio: InputAudio })

const SoundOnly = z.looseObject({ input_audio: InputAudio })

/** A file that came as base64 within JSON. */
interface EncodedFile {
  name: string
  type: string
  bytes: number
  /** Decodes it piece by piece. Throws `invalid_request` where the text is no base64. */
  decode: () => Iterable<Uint8Array>
}

/** The content types of formats whose names are others. */
const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  mpga: 'audio/mpeg',
  m4a: 'audio/mp4',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
}

/** Reads the sound of a request in JSON, and its other fields; null is absent. Throws `invalid_request`. */
export function readSoundJson(body: JsonObject): { fields: JsonObject; sound: EncodedFile } {
  if ((body['file'] ?? undefined) !== undefined)
    throw invalidRequest('file', 'not_allowed', 'file: JSON has the sound in input_audio.')
  const { input_audio: audio } = check(SoundOnly, body)
  const format = audio.format.toLowerCase()
  const name = `audio.${format}`
  if (!isSoundName(name))
    throw invalidRequest(
      'input_audio.format',
      'bad_format',
      'input_audio.format: must be a format of sound, such as wav or mp3.',
    )
  const { input_audio: _audio, file: _absent, ...others } = body
  return {
    fields: Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)),
    sound: {
      name,
      type: types[format] ?? `audio/${format}`,
      bytes: toBytes(toEncodedLength(audio.data)),
      decode: () => decode(audio.data),
    },
  }
}

/** The length of a text in base64 without its padding. */
function toEncodedLength(data: string): number {
  if (data.endsWith('==')) return data.length - 2
  return data.endsWith('=') ? data.length - 1 : data.length
}

const toBytes = (length: number) => Math.floor((length * 3) / 4)

/** Characters that are decoded at once: four of them are three bytes. */
const sliceLength = 256 * 1024

function* decode(data: string): Generator<Uint8Array, void> {
  const end = toEncodedLength(data)
  if (end === 0) throw noBase64()
  for (let at = 0; at < end; at += sliceLength) {
    const text = data.slice(at, Math.min(end, at + sliceLength))
    const piece = Buffer.from(text, 'base64')
    // The decoder passes over what is no base64.
    if (text.length % 4 === 1 || piece.byteLength !== toBytes(text.length)) throw noBase64()
    yield piece
  }
}

const noBase64 = () =>
  invalidRequest(
    'input_audio.data',
    'bad_format',
    'input_audio.data: must be base64 without line breaks, and no data URL.',
  )
