import type { ScimRequest } from './exchange'
import { toResponse } from './exchange'
import { toGroupChange, toGroupFields, type GroupChange } from './group-fields'
import { listGroups, readGroup } from './group-rows'
import { createGroupChanges } from './groups'
import type { ResourceHandlers } from './handlers'
import { toListRequest, toProjection } from './list-query'
import { toOperations } from './operations'
import { createPreconditions } from './preconditions'
import { toListResponse } from './resources'
import { notFound } from './scim-error'
import { isUnchanged, notModified, toResource } from './user-handlers'
import type { UserPorts } from './users'

/** Handlers of `/Groups`. */
export function groupHandlers(ports: UserPorts): ResourceHandlers {
  const { db } = ports
  const groups = createGroupChanges(ports)

  /** Reads a group, as the answer to a change has it. */
  async function read({ c, directory, address }: ScimRequest, id: string) {
    const projection = toProjection(c)
    const hasMembers = projection.has('members')
    const resource = await readGroup(db, directory, { id, address, hasMembers })
    if (!resource) throw notFound()
    return { resource, projection }
  }

  async function change(request: ScimRequest, fields: GroupChange): Promise<Response> {
    const { c, directory, id, note } = request
    note({ fields: Object.keys(fields) })
    const check = createPreconditions(c.req.header('if-match'))
    await groups.change(directory, id, { change: fields, check })
    const { resource, projection } = await read(request, id)
    return toResource(resource, projection)
  }

  return {
    async list({ c, directory, address }) {
      const list = toListRequest(c)
      const projection = toProjection(c)
      const view = { ...list, address, hasMembers: projection.has('members') }
      const { total, resources } = await listGroups(db, directory, view)
      const page = { total, startIndex: list.startIndex }
      return toResponse(
        toListResponse({ ...page, resources: resources.map((one) => projection.apply(one)) }),
      )
    },
    async create(request) {
      const fields = toGroupFields(await request.body())
      request.note({ display_name: fields.displayName })
      const id = await groups.create(request.directory, fields)
      const { resource, projection } = await read(request, id)
      return toResource(resource, projection, 201)
    },
    async get(request) {
      const { resource, projection } = await read(request, request.id)
      return isUnchanged(request, resource)
        ? notModified(resource)
        : toResource(resource, projection)
    },
    replace: async (request) => change(request, toGroupFields(await request.body())),
    patch: async (request) => change(request, toGroupChange(toOperations(await request.body()))),
    async remove({ c, directory, id }) {
      await groups.remove(directory, id, createPreconditions(c.req.header('if-match')))
      return new Response(null, { status: 204 })
    },
  }
}
