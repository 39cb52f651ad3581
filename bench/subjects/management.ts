interface Post {
  body: object
  /** The bearer token of an operator. */
  token?: string
  /** The text wanted from the answer, by the names that lead to it. */
  textAt: readonly string[]
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** Posts to the management API of a gateway, and returns a text of its answer. Throws where it is refused. */
export async function post(url: string, { body, token = '', textAt }: Post): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${answer}`)
  const json: unknown = JSON.parse(answer)
  const text = textAt.reduce(memberOf, json)
  if (typeof text !== 'string') throw new Error(`${url} answers without ${textAt.join('.')}`)
  return text
}
