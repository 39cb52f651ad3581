import { Hono } from 'hono'
import type { MemberStore } from './members'
import { described } from './description'
import {
  ChangedMember,
  ChangedOrganization,
  JoinRequest,
  MemberFilters,
  NewOrganization,
} from './schema'
import type { OrganizationStore } from './store'
import type { OrganizationTrailStore } from './trail'
import { OrganizationTrailFilter } from './trail-schema'
import type { OrganizationUsageStore } from './usage'
import { UsageFilters } from './usage-schema'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'
import { check } from '../../../wire/json-body'

export interface OrganizationStores {
  organizations: OrganizationStore
  members: MemberStore
  organizationUsage: OrganizationUsageStore
  organizationTrail: OrganizationTrailStore
}

/** Organizations and their members. Source: contract 7.4. */
export const organizationRoutes = (stores: OrganizationStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', ownRoutes(stores, guards))
    .route('/', memberRoutes(stores, guards))
    .route('/', usageRoutes(stores, guards))
    .route('/', trailRoutes(stores, guards))

const ownRoutes = ({ organizations }: OrganizationStores, { account }: Guards) =>
  new Hono<Env>()
    .get(
      '/api/organizations',
      described.listOrganizations,
      account('read', 'organization'),
      async (c) => c.json(await organizations.list(c.var.principal)),
    )
    .post(
      '/api/organizations',
      described.createOrganization,
      account('admin', 'organization'),
      async (c) =>
        c.json(
          await organizations.create(c.var.principal, await readNewFields(c, NewOrganization)),
          201,
        ),
    )
    .get(
      '/api/organizations/:id',
      described.getOrganization,
      account('read', 'organization'),
      async (c) => c.json(await organizations.get(c.var.principal, c.req.param('id'))),
    )
    .put(
      '/api/organizations/:id',
      described.changeOrganization,
      account('admin', 'organization'),
      async (c) => {
        const fields = await readChangedFields(c, ChangedOrganization)
        return c.json(await organizations.change(c.var.principal, c.req.param('id'), fields))
      },
    )
    .delete(
      '/api/organizations/:id',
      described.deleteOrganization,
      account('admin', 'organization'),
      async (c) => c.json(await organizations.delete(c.var.principal, c.req.param('id'))),
    )

const memberRoutes = ({ members }: OrganizationStores, { account }: Guards) =>
  new Hono<Env>()
    .post(
      '/api/organizations/:id/join',
      described.joinOrganization,
      account('admin', 'organization'),
      async (c) => {
        const { message } = await readNewFields(c, JoinRequest)
        return c.json(await members.join(c.var.principal, c.req.param('id'), message), 201)
      },
    )
    .get(
      '/api/organizations/:id/members',
      described.listMembers,
      account('admin', 'organization'),
      async (c) => {
        const id = c.req.param('id')
        const filters = check(MemberFilters, c.req.query())
        const search = toSearch(c)
        const scope = `members ${c.var.principal.userId} ${id} ${JSON.stringify({ filters, search })}`
        const listing = { filters, search, page: toPage(c, scope) }
        return c.json(await members.list(c.var.principal, id, listing))
      },
    )
    .put(
      '/api/organizations/:id/members/:user_id',
      described.changeMember,
      account('admin', 'organization'),
      async (c) => {
        const { id, user_id: userId } = c.req.param()
        const fields = await readChangedFields(c, ChangedMember)
        return c.json(await members.change(c.var.principal, { id, userId }, fields))
      },
    )
    .delete(
      '/api/organizations/:id/members/:user_id',
      described.removeMember,
      account('admin', 'organization'),
      async (c) => {
        const { id, user_id: userId } = c.req.param()
        return c.json(await members.remove(c.var.principal, { id, userId }))
      },
    )

const usageRoutes = ({ organizationUsage }: OrganizationStores, { account }: Guards) =>
  new Hono<Env>().get(
    '/api/organizations/:id/usage',
    described.getUsage,
    account('read', 'organization'),
    async (c) => {
      const filters = check(UsageFilters, c.req.query())
      return c.json(await organizationUsage.get(c.var.principal, c.req.param('id'), filters))
    },
  )

const trailRoutes = ({ organizationTrail }: OrganizationStores, { account }: Guards) =>
  new Hono<Env>().get(
    '/api/organizations/:id/audit-trail',
    described.getAuditTrail,
    account('admin', 'organization'),
    async (c) => {
      const id = c.req.param('id')
      const filter = check(OrganizationTrailFilter, c.req.query())
      const scope = `trail ${c.var.principal.userId} ${id} ${JSON.stringify(filter)}`
      const listing = { filter, page: toPage(c, scope) }
      return c.json(await organizationTrail.list(c.var.principal, id, listing))
    },
  )
