import { toResponse, type ScimRequest } from './exchange'
import { toListRequest, toProjection } from './list-query'
import { toOperations } from './operations'
import { createPreconditions, namesVersion } from './preconditions'
import { toListResponse, type Projection, type Resource } from './resources'
import type { ResourceHandlers } from './handlers'
import { notFound } from './scim-error'
import { toUserChange, toUserFields, type UserChange } from './user-fields'
import { listUsers, readUser } from './user-rows'
import { createUserChanges, type UserPorts } from './users'

/** Handlers of `/Users`. */
export function userHandlers(ports: UserPorts): ResourceHandlers {
  const { db } = ports
  const users = createUserChanges(ports)

  /** Reads a user, as the answer to a change has it. */
  async function read({ c, directory, address }: ScimRequest, id: string) {
    const resource = await readUser(db, directory, { id, address })
    if (!resource) throw notFound()
    return { resource, projection: toProjection(c) }
  }

  async function change(request: ScimRequest, fields: UserChange): Promise<Response> {
    const { c, directory, id, note } = request
    const check = createPreconditions(c.req.header('if-match'))
    const onChange = (names: readonly string[]) =>
      note({ fields: names, ...(names.includes('active') && { active: fields.active }) })
    await users.change(directory, id, { change: fields, check, onChange })
    const { resource, projection } = await read(request, id)
    return toResource(resource, projection)
  }

  return {
    async list({ c, directory, address }) {
      const list = toListRequest(c)
      const projection = toProjection(c)
      const { total, resources } = await listUsers(db, directory, { ...list, address })
      const page = { total, startIndex: list.startIndex }
      return toResponse(
        toListResponse({ ...page, resources: resources.map((one) => projection.apply(one)) }),
      )
    },
    async create(request) {
      const fields = toUserFields(await request.body())
      request.note({ active: fields.active })
      const id = await users.create(request.directory, fields)
      const { resource, projection } = await read(request, id)
      return toResource(resource, projection, 201)
    },
    async get(request) {
      const { resource, projection } = await read(request, request.id)
      return isUnchanged(request, resource)
        ? notModified(resource)
        : toResource(resource, projection)
    },
    replace: async (request) => change(request, toUserFields(await request.body())),
    patch: async (request) => change(request, toUserChange(toOperations(await request.body()))),
    async remove({ c, directory, id }) {
      await users.remove(directory, id, createPreconditions(c.req.header('if-match')))
      return new Response(null, { status: 204 })
    },
  }
}

/** Whether the client has the current version of a resource. */
export function isUnchanged({ c }: ScimRequest, { meta }: Resource): boolean {
  const list = c.req.header('if-none-match')
  return list !== undefined && namesVersion(list, meta.version)
}

export const notModified = ({ meta }: Resource): Response =>
  new Response(null, { status: 304, headers: { etag: meta.version } })

/** Returns the answer with a resource. */
export function toResource(
  resource: Resource,
  projection: Projection,
  status: 200 | 201 = 200,
): Response {
  const { version, location } = resource.meta
  const headers = { etag: version, ...(status === 201 && { location }) }
  return toResponse(projection.apply(resource), { status, headers })
}
