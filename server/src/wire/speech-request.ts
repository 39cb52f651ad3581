import { z } from 'zod'
import { maybe, modelField, text } from './fields'
import { toSparse } from './sparse'
import { speechFormats } from './speech-format'

/** The longest text of any model; most have a limit of their own. */
const maxInput = 100_000
const maxInstructions = 4096

/** `POST /v1/audio/speech`, in OpenAI's form. Source: contract 4.13. */
export const SpeechRequest = toSparse(
  z.looseObject({
    model: modelField,
    input: text(maxInput, 1).describe('The text to speak'),
    voice: maybe(z.union([text(256, 1), z.looseObject({ id: text(256, 1) })])).describe(
      "A voice of the model's provider, or `{id}` of one of the caller's own at OpenAI",
    ),
    instructions: maybe(text(maxInstructions)).describe(
      'The tone, pace and accent of the voice, for models that obey it',
    ),
    response_format: maybe(z.enum(speechFormats)).describe(
      '`mp3` by default; `wav` for models that make nothing but PCM',
    ),
    speed: maybe(z.number().min(0.25).max(4)),
    stream_format: maybe(z.enum(['audio', 'sse'])).describe(
      'Bytes of the format, or server-sent events with the sound in base64',
    ),
  }),
)
export type SpeechRequest = z.output<typeof SpeechRequest>

/** Returns the name of a voice, or the id of one of the caller's own. */
export const nameOfVoice = ({ voice }: Pick<SpeechRequest, 'voice'>): string | undefined =>
  typeof voice === 'object' && voice !== null ? voice.id : (voice ?? undefined)
