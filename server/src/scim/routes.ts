import { Hono } from 'hono'
import { toResourceTypes, toSchemas, toServiceProviderConfig } from './discovery'
import { answerScim, toResponse, type ScimExchangePorts, type ScimHandler } from './exchange'
import { groupHandlers } from './group-handlers'
import type { ResourceHandlers } from './handlers'
import { basePath } from './names'
import { userHandlers } from './user-handlers'
import type { UserPorts } from './users'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'

/** The dependencies of the endpoints of SCIM. */
export type ScimPorts = UserPorts & ScimExchangePorts

/**
 * The endpoints of SCIM 2.0, by which an identity provider creates, changes and removes users and groups. Each authenticates
 * by the token of a directory. Source: contract 2.6.
 */
export function scimEndpoints(ports: ScimPorts, { open }: Guards): Hono<Env> {
  const app = new Hono<Env>()
  const mount = (method: string, path: string, handler: ScimHandler) =>
    app.on(method, `${basePath}${path}`, open, answerScim(ports, handler))
  const mountResources = (path: string, handlers: ResourceHandlers) => {
    mount('GET', path, handlers.list)
    mount('POST', path, handlers.create)
    mount('GET', `${path}/:id`, handlers.get)
    mount('PUT', `${path}/:id`, handlers.replace)
    mount('PATCH', `${path}/:id`, handlers.patch)
    mount('DELETE', `${path}/:id`, handlers.remove)
  }
  mountResources('/Users', userHandlers(ports))
  mountResources('/Groups', groupHandlers(ports))
  mount('GET', '/ServiceProviderConfig', async ({ address }) =>
    toResponse(toServiceProviderConfig(address)),
  )
  for (const [path, describe] of [
    ['/ResourceTypes', toResourceTypes],
    ['/Schemas', toSchemas],
  ] as const) {
    mount('GET', path, async ({ address }) => toResponse(describe(address)))
    mount('GET', `${path}/:id`, async ({ address, id }) => toResponse(describe(address, id)))
  }
  return app
}
