import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from './json-body'

/** Subtypes of audio by the names that `input_audio` has for them. */
const audioFormats: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  mpga: 'mp3',
  wave: 'wav',
  'vnd.wave': 'wav',
}

/** The type of a base64 data URL, and the index of its data. */
interface DataHead {
  kind: string
  subtype: string
  at: number
}

function readHead(url: string): DataHead | undefined {
  const comma = url.indexOf(',')
  // Megabytes may follow: the pattern sees only the text before the comma.
  const head = /^data:([\w.+-]+)\/([\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64$/i.exec(
    url.slice(0, Math.max(0, comma)),
  )
  const [, kind = '', subtype = ''] = head ?? []
  return head
    ? { kind: kind.toLowerCase(), subtype: subtype.toLowerCase(), at: comma + 1 }
    : undefined
}

function toAudio(url: string, { subtype, at }: DataHead): JsonObject {
  const name = subtype.replace(/^x-/, '')
  const format = Object.hasOwn(audioFormats, name) ? audioFormats[name] : name
  return { type: 'input_audio', input_audio: { data: url.slice(at), format } }
}

const urlIn = (media: unknown): string =>
  isObject(media) && typeof media['url'] === 'string' ? media['url'] : ''

/**
 * Returns a content part as adapters read it: a file that a client sent as an image becomes a file, and sound by a URL
 * sound. Throws `invalid_request` for sound that would have to be fetched.
 */
function toPlainPart(part: unknown, param: string): unknown {
  if (!isObject(part)) return part
  const { image_url: image, audio_url: audio, ...rest } = part
  if (part['type'] === 'image_url') {
    const url = urlIn(image)
    const head = readHead(url)
    if (!head || head.kind === 'image') return part
    if (head.kind === 'audio') return { ...rest, ...toAudio(url, head) }
    return { ...rest, type: 'file', file: { file_data: url } }
  }
  if (part['type'] !== 'audio_url') return part
  const url = urlIn(audio)
  const head = readHead(url)
  if (head?.kind === 'audio') return { ...rest, ...toAudio(url, head) }
  throw invalidRequest(
    `${param}.audio_url.url`,
    'unsupported_by_model',
    'This model accepts audio as data only.',
  )
}

/** Returns messages with their media under the names that adapters read. */
export const toPlainMedia = (messages: readonly unknown[]): unknown[] =>
  messages.map((message, position) => {
    const content = isObject(message) ? message['content'] : undefined
    if (!isObject(message) || !Array.isArray(content)) return message
    const param = `messages.${position}.content`
    const parts = content.map((part: unknown, index) => toPlainPart(part, `${param}.${index}`))
    return parts.every((part, index) => part === content[index])
      ? message
      : { ...message, content: parts }
  })
