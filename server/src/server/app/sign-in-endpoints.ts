import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { invalidRequest } from '../../errors'
import { refuseControlCharacters } from '../../http/control-characters'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'

/** Answers requests below `/api/auth`. */
export interface SignInAnswers {
  answer: (request: Request, clientAddress: string) => Promise<Response>
}

const maxBytes = 64 * 1024

/** Returns the request with its body read and checked. Rejects with `invalid_request` for control characters. */
async function withCheckedBody(request: Request): Promise<Request> {
  if (request.method !== 'POST') return request
  const body = await request.text()
  refuseControlCharacters(body)
  const { url, headers, signal } = request
  return new Request(url, { method: 'POST', headers, signal, ...(body !== '' && { body }) })
}

/** Sign-up, sign-in, sessions, passwords: the library's own endpoints. Source: contract 2.5. */
export const signInEndpoints = (signIn: SignInAnswers, { open }: Guards) =>
  new Hono<Env>().on(
    ['GET', 'POST'],
    '/api/auth/*',
    open,
    bodyLimit({
      maxSize: maxBytes,
      onError: () => {
        throw invalidRequest(null, 'body_too_large', 'The body is larger than 64 KB.')
      },
    }),
    async (c) => {
      const request = await withCheckedBody(c.req.raw)
      return signIn.answer(request, c.env.server.requestIP(c.req.raw)?.address ?? '')
    },
  )
