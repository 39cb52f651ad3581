import type { Gateway } from './server'

/** An answer of an operator endpoint, success or not. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  /** Set where the answer is an error. */
  error?: { code: string; param: string | null; message: string; details: { issue?: string } }
}

/** Calls an operator endpoint and takes whatever it answers. */
export async function sendOperatorRequest(
  { url, adminKey, recorder }: Gateway,
  request: string,
  body?: object,
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await recorder.fetch(`${url}/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = JSON.parse(await response.text())
  return { status: response.status, body: answer, error: answer.error }
}

/** The part of an answer that says what is wrong: status, field, issue. */
export const problem = ({ status, error }: Answer) => [status, error?.param, error?.details?.issue]
