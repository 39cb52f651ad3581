import { openAnswer } from '../../api/client'

/** Timeout of a request, which the user can also stop. */
const answerLimitMs = 10 * 60_000

/** An answer, and the id under which its request has a log. */
export interface Answered<Result> {
  result: Result
  requestId: string | null
}

/** A picture of an answer: its data as an address, or a page elsewhere. */
export interface Picture {
  data?: string | undefined
  url?: string | undefined
  revisedPrompt?: string | undefined
}

export interface ImageFields {
  model: string
  prompt: string
  n: number
  size?: string | undefined
  quality?: string | undefined
}

export interface SpeechFields {
  model: string
  input: string
  voice?: string | undefined
  response_format?: string | undefined
}

export interface TranscriptionFields {
  model: string
  file: File
  language?: string | undefined
}

async function send<Result>(
  path: string,
  init: RequestInit,
  read: (response: Response) => Promise<Result>,
): Promise<Answered<Result>> {
  const answer = await openAnswer(
    `/api/playground/${path}`,
    { method: 'POST', ...init },
    answerLimitMs,
  )
  return { result: await read(answer), requestId: answer.headers.get('x-request-id') }
}

const json = (fields: object, signal: AbortSignal): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(fields),
  signal,
})

interface Images {
  output_format?: string
  data: { b64_json?: string | null; url?: string | null; revised_prompt?: string | null }[]
}

/** The first characters of a picture in base64, by its type. */
const beginnings = [
  ['/9j/', 'jpeg'],
  ['UklGR', 'webp'],
  ['PHN2Zy', 'svg+xml'],
] as const

const typeOf = (data: string) =>
  beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? 'png'

function toPicture({ b64_json: data, url, revised_prompt: prompt }: Images['data'][number]) {
  const isData = url?.startsWith('data:image/') === true
  return {
    data: data ? `data:image/${typeOf(data)};base64,${data}` : isData ? url : undefined,
    url: isData ? undefined : (url ?? undefined),
    revisedPrompt: prompt ?? undefined,
  }
}

/** Creates pictures. Source: contract 4. */
export const createImages = (fields: ImageFields, signal: AbortSignal) =>
  send(
    'images/generations',
    json({ ...fields, response_format: 'b64_json' }, signal),
    async (answer): Promise<Picture[]> => {
      const images: Images = await answer.json()
      return images.data.map(toPicture)
    },
  )

/** Creates speech, whole. */
export const createSpeech = (fields: SpeechFields, signal: AbortSignal) =>
  send('audio/speech', json(fields, signal), (answer) => answer.blob())

/** Creates a transcript of a file. */
export function createTranscription(fields: TranscriptionFields, signal: AbortSignal) {
  const { model, file, language } = fields
  const form = new FormData()
  // Before the file, so that a missing model is rejected before all of it has arrived.
  form.set('model', model)
  if (language) form.set('language', language)
  form.set('file', file)
  return send('audio/transcriptions', { body: form, signal }, async (answer) => {
    const { text }: { text: string } = await answer.json()
    return text
  })
}
