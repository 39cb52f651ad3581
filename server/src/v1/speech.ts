import { z } from 'zod'
import { modelHeaders, soundErrors } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'
import { speechTypes } from '../wire/speech-format'
import { SpeechRequest } from '../wire/speech-request'

const Sound = z.string().meta({ format: 'binary' })

/** The answer: bytes of a format, or events. */
const spoken = {
  description: 'The sound, as it comes',
  content: {
    ...Object.fromEntries(Object.values(speechTypes).map((type) => [type, Sound])),
    'text/event-stream': z
      .string()
      .describe('`speech.audio.delta` events, ended by `speech.audio.done` with the usage'),
  },
}

export const speechRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/audio/speech',
    access: modelKey('write'),
    operationId: 'createSpeech',
    tag: 'Models',
    summary: 'Create speech from text',
    notes:
      'In the form of OpenAI, for the models of every provider. `sandbox/speech` hums a tone for each character.',
    headers: modelHeaders,
    body: SpeechRequest.meta({ ref: 'SpeechRequest' }),
    examples: {
      'A WAV file': { model: 'sandbox/speech', input: 'Hello', response_format: 'wav' },
      Events: { model: 'sandbox/speech', input: 'Hello', stream_format: 'sse' },
    },
    responses: { 200: spoken },
    errors: soundErrors,
    handler: (call) => respond(call, gateway.speak, ports),
  }),
]
