import { asked, type Home } from './door-stage'

/** A stream as read by the official client, up to its end or failure. */
export interface Told {
  requestId: string
  text: string
  /** The longest time without an event, milliseconds. */
  pauseMs: number
  /** The message of the error that ended it: its frame's, or the connection's. */
  code: string | undefined
}

/** Reads a stream; calls `heard` at each piece of text. */
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

/** Returns the model server's answer to "say <count>". */
export const numbers = (count: number) =>
  Array.from({ length: count }, (_none, at) => `${at} `).join('')
