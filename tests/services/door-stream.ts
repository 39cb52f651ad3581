import { asked, type Home } from './door-stage'

/** A stream as the official client read it, or as far as it came. */
export interface Told {
  requestId: string
  text: string
  /** The longest time without a word, milliseconds. */
  pauseMs: number
  /** Of the error that ended it: its frame's, or that of the connection. */
  code: string | undefined
}

/** Reads a stream; `heard` is called at each piece of text. */
export async function readStream(
  { caller: { client }, requests }: Home,
  content: string,
  heard: (text: string) => void = () => undefined,
): Promise<Told> {
  const asking = client.chat.completions.create({ ...asked(content), stream: true })
  const { data, response } = await asking.withResponse()
  const requestId = response.headers.get('x-request-id') ?? ''
  requests.push(requestId)
  const told: Told = { requestId, text: '', pauseMs: 0, code: undefined }
  let heardAt = performance.now()
  try {
    for await (const { choices } of data) {
      told.text += choices[0]?.delta.content ?? ''
      told.pauseMs = Math.max(told.pauseMs, performance.now() - heardAt)
      heardAt = performance.now()
      heard(told.text)
    }
  } catch (thrown) {
    const code: unknown = Reflect.get(Object(thrown), 'code')
    if (typeof code !== 'string') throw thrown
    told.code = code
  }
  return told
}

/** What the server of models says to "say <count>". */
export const numbers = (count: number) =>
  Array.from({ length: count }, (_none, at) => `${at} `).join('')
