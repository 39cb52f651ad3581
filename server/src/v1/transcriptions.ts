import { z } from 'zod'
import { modelHeaders, soundErrors } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'
import { TranscriptionJson } from '../wire/transcription-json'
import { TranscriptionForm, TranslationForm } from '../wire/transcription-request'

const Transcription = z
  .looseObject({
    text: z.string(),
    usage: z
      .looseObject({ type: z.enum(['tokens', 'duration']) })
      .describe('Tokens, or `seconds` of sound')
      .optional(),
  })
  .meta({
    ref: 'Transcription',
    examples: [
      {
        text: 'This is a simulated transcript.',
        usage: { type: 'duration', seconds: 3 },
      },
    ],
  })

const answer = (description: string) => ({
  description,
  content: {
    'application/json': Transcription,
    'text/plain': z.string().describe('With `response_format` `text`, `srt` or `vtt`'),
  },
})

/** The endpoints of sound that becomes text. */
export const transcriptionRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => {
  const transcript = answer('The transcript, in the `response_format` of the request')
  const shared = {
    method: 'post',
    access: modelKey('write'),
    tag: 'Models',
    headers: modelHeaders,
    errors: soundErrors,
  } as const
  return [
    modelRoute({
      ...shared,
      path: '/v1/audio/transcriptions',
      operationId: 'createTranscription',
      summary: 'Create a transcript of sound',
      notes:
        'A form with one file of at most 512 MB, or JSON of at most 32 MB with the file in base64, as OpenRouter has it. `sandbox/transcription` reports the length of the file, without listening to it.',
      body: TranscriptionJson.meta({ ref: 'TranscriptionRequest' }),
      formBody: TranscriptionForm.meta({ ref: 'TranscriptionForm' }),
      examples: {
        'A file in base64': {
          model: 'sandbox/transcription',
          input_audio: { data: 'UklGRiQAAABXQVZF', format: 'wav' },
        },
      },
      responses: {
        200: {
          description: transcript.description,
          content: {
            ...transcript.content,
            'text/event-stream': z.string().describe('With `stream`: `data: <event>` lines'),
          },
        },
      },
      handler: (call) => respond(call, gateway.transcribe, ports),
    }),
    modelRoute({
      ...shared,
      path: '/v1/audio/translations',
      operationId: 'createTranslation',
      summary: 'Create a translation of sound to English text',
      notes: 'A form with one file of at most 512 MB.',
      bodyType: 'multipart/form-data',
      body: TranslationForm.meta({ ref: 'TranslationRequest' }),
      responses: { 200: transcript },
      handler: (call) => respond(call, gateway.translate, ports),
    }),
  ]
}
