import { noMedia, type MediaLengths } from '../catalog/media-tokens'
import { isObject, toObjects, type JsonObject } from '../wire/json-body'

/** A file may hold sound as well. */
export const hasSound = ({ soundLengths, speechLengths, audioTurns, fileLengths }: MediaLengths) =>
  soundLengths.length + speechLengths.length + audioTurns + fileLengths.length > 0

interface MediaVolume {
  media: MediaLengths
  /** The length of media data in the body, which is not text. */
  dataLength: number
}

const noMediaVolume: MediaVolume = { media: noMedia, dataLength: 0 }

const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : 0)

const isText = ({ content, audio }: JsonObject) => !Array.isArray(content) && !isObject(audio)
const contentPartsOf = ({ content }: JsonObject) => toObjects(content)

const urlIn = (media: unknown): string => {
  const url = isObject(media) ? media['url'] : undefined
  return typeof url === 'string' ? url : ''
}

/** Measures the media of all messages; most messages are only text, and allocate nothing. */
export function measureMedia(messages: readonly JsonObject[]): MediaVolume {
  if (messages.every(isText)) return noMediaVolume
  const measure = new MediaMeasure()
  for (const part of messages.flatMap(contentPartsOf)) measure.add(part)
  const audioTurns = messages.filter(({ audio }) => isObject(audio)).length
  return measure.volume(audioTurns)
}

class MediaMeasure {
  readonly #soundLengths: number[] = []
  readonly #speechLengths: number[] = []
  readonly #fileLengths: number[] = []
  #images = 0
  #imageLength = 0

  add(part: JsonObject): void {
    const { image_url: image, input_audio: sound, audio_url: address, file } = part
    switch (part['type']) {
      case 'image_url':
        return this.#addUrl(urlIn(image), 'image')
      case 'audio_url':
        return this.#addUrl(urlIn(address), 'audio')
      case 'input_audio':
        return isObject(sound)
          ? this.#addSound(lengthOf(sound['data']), sound['format'])
          : undefined
      case 'file':
        this.#fileLengths.push(lengthOf(isObject(file) && file['file_data']))
        return undefined
      default:
        return undefined
    }
  }

  /** Data decides by its own type; of an address the length is unknown, as a file's is. */
  #addUrl(url: string, kind: 'image' | 'audio'): void {
    const [, ofData = kind, format] = /^data:(\w+)\/([\w.+-]+)/.exec(url.slice(0, 64)) ?? []
    const length = url.startsWith('data:') ? url.length : 0
    if (ofData === 'image') {
      this.#images += 1
      this.#imageLength += length
    } else if (ofData === 'audio' && length > 0) this.#addSound(length, format)
    else this.#fileLengths.push(length)
  }

  #addSound(length: number, format: unknown): void {
    const isUsual = typeof format === 'string' && usualSound.has(format)
    const lengths = isUsual ? this.#soundLengths : this.#speechLengths
    lengths.push(length)
  }

  volume(audioTurns: number): MediaVolume {
    const [soundLengths, speechLengths] = [this.#soundLengths, this.#speechLengths]
    const fileLengths = this.#fileLengths
    const lengths = [this.#imageLength, ...soundLengths, ...speechLengths, ...fileLengths]
    const dataLength = lengths.reduce((total, length) => total + length, 0)
    const images = this.#images
    return { media: { images, soundLengths, speechLengths, audioTurns, fileLengths }, dataLength }
  }
}

const usualSound: ReadonlySet<string> = new Set(['wav', 'mp3', 'wave', 'x-wav', 'mpeg'])
