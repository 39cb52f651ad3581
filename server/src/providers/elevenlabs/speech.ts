import { soundOnly, voiceRequired, wrongVoice, type SpeechForm } from '../speech-form'
import type { SpeechFormat } from '../../wire/speech-format'
import { nameOfVoice } from '../../wire/speech-request'

/** Formats with codec, sample rate and bit rate. https://elevenlabs.io/docs/api-reference/text-to-speech/stream */
const outputFormats: Readonly<Partial<Record<SpeechFormat, string>>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_64',
  // A header is put before it.
  wav: 'pcm_24000',
  pcm: 'pcm_24000',
}

/** The most characters by the beginning of a model's name. https://elevenlabs.io/docs/models */
const maxCharactersOf: readonly (readonly [string, number])[] = [
  ['eleven_v3', 5000],
  ['eleven_multilingual_v2', 10_000],
  ['eleven_flash_v2_5', 40_000],
  ['eleven_turbo_v2_5', 40_000],
  ['eleven_flash_v2', 30_000],
  ['eleven_turbo_v2', 30_000],
]

const voiceId = /^[\w-]{1,64}$/

/** ElevenLabs' form. @see https://elevenlabs.io/docs/api-reference/text-to-speech/stream */
export const elevenLabsSpeech: SpeechForm = {
  ...soundOnly,
  formats: ['mp3', 'opus', 'wav', 'pcm'],
  usualFormat: 'mp3',
  needsHeader: (format) => format === 'wav',
  maxCharacters: ({ upstreamModel }) =>
    maxCharactersOf.find(([begin]) => upstreamModel.startsWith(begin))?.[1],
  omits: ['instructions'],
  write: (request, _body, { upstreamModel, format }) => {
    const voice = nameOfVoice(request)
    if (voice === undefined) throw voiceRequired()
    if (!voiceId.test(voice)) throw wrongVoice('voice: no id of a voice of ElevenLabs.')
    const { input, speed } = request
    return {
      path: `/text-to-speech/${voice}/stream?output_format=${outputFormats[format] ?? ''}`,
      body: {
        text: input,
        model_id: upstreamModel,
        ...(typeof speed === 'number' && { voice_settings: { speed } }),
      },
    }
  },
}
