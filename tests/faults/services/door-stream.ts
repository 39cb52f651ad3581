import { chatRequest, type Home } from './tunnel-fixture'

/** A stream as read by the official client, up to its end or failure. */
interface StreamResult {
  requestId: string
  text: string
  /** The message of the error that ended it: its frame's, or the connection's. */
  code: string | undefined
}

/** Reads a stream; calls `onText` at each piece of text. */
export async function readStream(
  { caller: { client }, requests }: Home,
  content: string,
  onText: (text: string) => void = () => undefined,
): Promise<StreamResult> {
  const asking = client.chat.completions.create({ ...chatRequest(content), stream: true })
  const { data, response } = await asking.withResponse()
  const requestId = response.headers.get('x-request-id') ?? ''
  requests.push(requestId)
  const result: StreamResult = { requestId, text: '', code: undefined }
  try {
    for await (const { choices } of data) {
      result.text += choices[0]?.delta.content ?? ''
      onText(result.text)
    }
  } catch (thrown) {
    const code: unknown = Reflect.get(Object(thrown), 'code')
    if (typeof code !== 'string') throw thrown
    result.code = code
  }
  return result
}

/** Returns the model server's answer to "say <count>". */
export const numbers = (count: number) =>
  Array.from({ length: count }, (_none, at) => `${at} `).join('')
