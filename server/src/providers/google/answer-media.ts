import type { Modality } from './usage'
import type { Part } from '../../wire/answer-part'
import { readSampleRate, wavHeader } from '../../wire/speech-format'
import type { SoundFormat } from '../adapter'

interface InlineData {
  mimeType: string
  data: string
}

/**
 * The images and the sound of one answer. An image becomes the field that OpenAI-alikes with such models have made
 * common, sound that of OpenAI.
 */
export class AnswerMedia {
  readonly #sound: SoundFormat | undefined
  #modality: Modality | undefined

  constructor(sound: SoundFormat | undefined) {
    this.#sound = sound
  }

  /** The kind of the media so far; undefined where there are none. */
  get modality(): Modality | undefined {
    return this.#modality
  }

  toPart({ mimeType, data }: InlineData): Part {
    if (mimeType.startsWith('audio/')) return this.#toSound({ mimeType, data })
    this.#modality ??= 'IMAGE'
    const image_url = { url: `data:${mimeType};base64,${data}` }
    return { type: 'extra', fields: { images: [{ type: 'image_url', image_url }] } }
  }

  #toSound({ mimeType, data }: InlineData): Part {
    const isFirst = this.#modality !== 'AUDIO'
    this.#modality = 'AUDIO'
    const isWav = this.#sound === 'wav' && isPcm(mimeType)
    const audio = {
      id: 'audio_0',
      data: isWav && isFirst ? withHeader(data, readSampleRate(mimeType)) : data,
      transcript: '',
      // Raw samples: only the type says how many there are in a second.
      mime_type: isWav ? 'audio/wav' : mimeType,
    }
    return { type: 'extra', fields: { audio } }
  }
}

const isPcm = (mimeType: string) => /^audio\/(?:l16|pcm)\b/i.test(mimeType)

/** Puts a header before the first piece of a stream of PCM, whose length is not known then. */
const withHeader = (data: string, sampleRate: number): string =>
  Buffer.concat([wavHeader(sampleRate), Buffer.from(data, 'base64')]).toString('base64')
