import { invalidRequest } from '../../errors'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import { readDataUrl, type MediaData } from '../media'
import { unsupported } from '../unsupported-fields'

/** One piece of a turn. @see https://ai.google.dev/api/caching#Part */
export type GeminiPart = (
  | { text: string }
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { fileUri: string; mimeType?: string } }
  | { functionCall: { id?: string; name: string; args: JsonObject } }
  | { functionResponse: { id?: string; name: string; response: JsonObject } }
) & { thoughtSignature?: string }

type Content = ChatRequest['messages'][number]['content']
type ContentPart = Exclude<Content, string | null | undefined>[number]

/** The position of a part in the request, and the data fetched for it. */
export interface PartContext {
  param: string
  media: ReadonlyMap<string, MediaData>
}

/**
 * The formats of sound that Gemini or Vertex AI lists, each under the name `audio/<format>`: MP3 not under its
 * registered one. https://ai.google.dev/gemini-api/docs/audio
 */
const audioFormats: ReadonlySet<string> = new Set([
  'wav',
  'mp3',
  'aiff',
  'aac',
  'ogg',
  'flac',
  'm4a',
  'mp4',
  'opus',
  'pcm',
  'webm',
])

/** Other names of these formats. */
const audioAliases: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  mpga: 'mp3',
  wave: 'wav',
  aif: 'aiff',
  oga: 'ogg',
}

/** Returns the name under which Google takes a format of sound; undefined for one that it does not take. */
export function toAudioName(format: string): string | undefined {
  const plainName = format.toLowerCase().replace(/^x-/, '')
  const name = Object.hasOwn(audioAliases, plainName) ? audioAliases[plainName] : plainName
  return name !== undefined && audioFormats.has(name) ? name : undefined
}

const youTube = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch|shorts|live)|youtu\.be\/)/i
const uploaded = /^(?:https:\/\/generativelanguage\.googleapis\.com\/|gs:\/\/)/

/** Films that everybody may watch. */
export const isYouTubeUrl = (url: string): boolean => youTube.test(url)

/**
 * Addresses that Google reads itself: YouTube, uploaded files and Cloud Storage. The last two it reads with the
 * request's credential; on one that accounts share they have been refused before.
 */
export const isGoogleUrl = (url: string): boolean => isYouTubeUrl(url) || uploaded.test(url)

const inline = ({ mimeType, base64 }: MediaData): GeminiPart => ({
  inlineData: { mimeType, data: base64 },
})

const stored = (fileUri: string): GeminiPart => ({
  fileData: isYouTubeUrl(fileUri) ? { fileUri, mimeType: 'video/mp4' } : { fileUri },
})

/** The parts of a message's content. Empty texts are left out, as Google refuses them. */
export function toParts(content: Content, place: PartContext): GeminiPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  return (content ?? []).flatMap((part, index) =>
    toPart(part, { ...place, param: `${place.param}.${index}` }),
  )
}

function toPart(part: ContentPart, place: PartContext): GeminiPart[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'refusal':
      return part.refusal === '' ? [] : [{ text: part.refusal }]
    case 'image_url':
      return [imagePart(part.image_url.url, place)]
    case 'input_audio': {
      const { data, format } = part.input_audio
      const name = toAudioName(format)
      if (name === undefined) {
        throw unsupported(
          `${place.param}.input_audio.format`,
          `This model does not accept "${format}".`,
        )
      }
      return [inline({ mimeType: `audio/${name}`, base64: data })]
    }
    default:
      return [filePart(part.file, `${place.param}.file`)]
  }
}

function imagePart(url: string, { param, media }: PartContext): GeminiPart {
  const image = readDataUrl(url) ?? media.get(url)
  if (image) return inline(image)
  if (isGoogleUrl(url)) return stored(url)
  throw invalidRequest(
    `${param}.image_url.url`,
    'unsupported_by_model',
    'This model accepts images as data URLs only.',
  )
}

function filePart(
  file: { file_data?: string | null | undefined; file_id?: string | null | undefined },
  param: string,
): GeminiPart {
  if (file.file_id && isGoogleUrl(file.file_id)) return stored(file.file_id)
  const data = file.file_data ? readDataUrl(file.file_data) : undefined
  if (data) return inline(data)
  if (file.file_data) {
    throw invalidRequest(`${param}.file_data`, 'bad_format', 'A file must be a base64 data URL.')
  }
  throw invalidRequest(
    `${param}.${file.file_id ? 'file_id' : 'file_data'}`,
    file.file_id ? 'unsupported_by_model' : 'required',
    'This model accepts files as data URLs in "file_data" only.',
  )
}
