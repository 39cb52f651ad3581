import type { Context } from 'hono'
import { findDirectory, type ProvisioningDirectory } from './directory'
import { renderScimError, ScimError } from './scim-error'
import { actorContext } from '../audit-log/actor-context'
import type { Trail } from '../audit-log/operator-trail'
import type { Authenticator } from '../auth/authenticator'
import { ApiError } from '../errors'
import { readJson } from '../http/body'
import { callerOf } from '../http/caller'
import type { Env } from '../http/env'
import { scimType } from '../http/scim-error-format'
import type { JsonObject } from '../wire/json-body'
import type { Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

export interface ScimExchangePorts {
  db: Kysely<Schema>
  authenticator: Pick<Authenticator, 'authenticateDirectory'>
  trail: Trail
  /** Returns the public address of the service, without a final slash. */
  address: () => string
}

/** A request to a directory that was authenticated. */
export interface ScimRequest {
  c: Context<Env>
  directory: ProvisioningDirectory
  address: string
  /** The id in the path; empty without one. */
  id: string
  /** Reads the body. */
  body: () => Promise<JsonObject>
  /** Adds to the record of a change in the operators' audit log, before it is committed: nothing of a person. */
  note: (fields: JsonObject) => void
}

export type ScimHandler = (request: ScimRequest) => Promise<Response>

const maxBytes = 1024 * 1024
const mediaType = /^application\/(?:scim\+)?json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** Returns the token of a directory in a request; undefined for other credentials. */
const readToken = (authorization: string | null) =>
  /^bearer\s+(\S{1,200})$/i.exec(authorization ?? '')?.[1]

async function authenticate(
  { db, authenticator }: ScimExchangePorts,
  c: Context<Env>,
): Promise<ProvisioningDirectory> {
  const token = readToken(c.req.raw.headers.get('authorization'))
  if (token === undefined) throw new ApiError('missing_api_key', { message: tokenMissing })
  return authenticator.authenticateDirectory(callerOf(c), () => findDirectory(db, token))
}

const tokenMissing =
  'No token was sent. Send that of a directory as "Authorization: Bearer <token>".'

async function readBody(c: Context<Env>, { id }: ProvisioningDirectory): Promise<JsonObject> {
  const share = c.env.bodies.open(id)
  const { body } = await readJson(c.req.raw, {
    limitBytes: maxBytes,
    server: c.env.server,
    memory: { share: () => share },
    mediaType,
  }).finally(() => share.release())
  return body
}

/** Authenticates a request, answers it, and renders the errors of SCIM. */
export const answerScim =
  (ports: ScimExchangePorts, handler: ScimHandler) =>
  async (c: Context<Env>): Promise<Response> => {
    try {
      return await answer(ports, c, handler)
    } catch (thrown) {
      if (thrown instanceof ScimError) return renderScimError(thrown)
      throw thrown
    }
  }

async function answer(
  ports: ScimExchangePorts,
  c: Context<Env>,
  handler: ScimHandler,
): Promise<Response> {
  const directory = await authenticate(ports, c)
  const notes: JsonObject = { directory_id: directory.id }
  const request: ScimRequest = {
    c,
    directory,
    address: ports.address(),
    id: c.req.param('id') ?? '',
    body: () => readBody(c, directory),
    note: (fields) => void Object.assign(notes, fields),
  }
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return handler(request)
  const actor = {
    id: directory.id,
    keyId: null,
    requestId: c.get('requestId'),
    clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
  }
  let response: Response | undefined
  await ports.trail.record(
    () => ({
      actorId: null,
      method: c.req.method,
      route: c.req.path.replace(request.id, request.id && ':id'),
      pathIds: request.id === '' ? [] : [request.id],
      sent: notes,
      requestId: actor.requestId,
      clientAddress: actor.clientAddress,
    }),
    async () => {
      response = await actorContext.run(actor, () => handler(request))
      return { isDone: response.ok }
    },
  )
  if (!response) throw new Error('The change was recorded without an answer.')
  return response
}

/** Returns an answer in the form of SCIM. */
export const toResponse = (
  body: object,
  { status = 200, headers = {} }: { status?: 200 | 201; headers?: Record<string, string> } = {},
): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': scimType, ...headers },
  })
