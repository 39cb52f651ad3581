import { Hono } from 'hono'
import * as described from './invitation-description'
import { InvitationFilters, NewInvitation, NewInvitations } from './invitation-schema'
import type { InvitationStore } from './invitations'
import type { OwnInvitationStore } from './own-invitations'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

export interface InvitationStores {
  invitations: InvitationStore
  ownInvitations: OwnInvitationStore
}

const own = '/api/organizations/invitations'
const paths = '/api/organizations/:id/invitations'
const invite = '/api/organizations/:id/members/invite'

/**
 * Invitations, for inviters and for invited accounts. They must be registered before the routes of organizations,
 * of which `invitations` is no id. Source: contract 7.4.
 */
export const invitationRoutes = (stores: InvitationStores, guards: Guards) =>
  new Hono<Env>().route('/', ownRoutes(stores, guards)).route('/', managing(stores, guards))

const ownRoutes = ({ ownInvitations }: InvitationStores, { account }: Guards) =>
  new Hono<Env>()
    .get(own, described.listOwnInvitations, account('read', 'account'), async (c) =>
      c.json(await ownInvitations.list(c.var.principal)),
    )
    .post(
      `${own}/:inv_id/accept`,
      described.acceptInvitation,
      account('admin', 'account'),
      async (c) => c.json(await ownInvitations.accept(c.var.principal, c.req.param('inv_id'))),
    )
    .post(
      `${own}/:inv_id/decline`,
      described.declineInvitation,
      account('admin', 'account'),
      async (c) => c.json(await ownInvitations.decline(c.var.principal, c.req.param('inv_id'))),
    )

const managing = ({ invitations }: InvitationStores, { account }: Guards) =>
  new Hono<Env>()
    .post(invite, described.inviteMember, account('admin', 'organization'), async (c) => {
      const fields = await readNewFields(c, NewInvitation)
      const inviter = { caller: c.var.principal, organizationId: c.req.param('id') }
      return c.json(await invitations.invite(inviter, fields), 201)
    })
    .post(
      `${invite}/bulk`,
      described.inviteMembers,
      account('admin', 'organization'),
      async (c) => {
        const { invitations: items } = await readNewFields(c, NewInvitations)
        const inviter = { caller: c.var.principal, organizationId: c.req.param('id') }
        return c.json(await invitations.inviteAll(inviter, items), 201)
      },
    )
    .get(paths, described.listInvitations, account('admin', 'organization'), async (c) => {
      const filters = check(InvitationFilters, c.req.query())
      const inviter = { caller: c.var.principal, organizationId: c.req.param('id') }
      const { userId } = inviter.caller
      const scope = `invitations ${userId} ${inviter.organizationId} ${filters.status ?? ''}`
      return c.json(await invitations.list(inviter, filters, toPage(c, scope)))
    })
    .post(
      `${paths}/:inv_id/resend`,
      described.resendInvitation,
      account('admin', 'organization'),
      async (c) => {
        const { id, inv_id: invitationId } = c.req.param()
        const inviter = { caller: c.var.principal, organizationId: id }
        return c.json(await invitations.resend(inviter, invitationId))
      },
    )
    .delete(
      `${paths}/:inv_id`,
      described.revokeInvitation,
      account('admin', 'organization'),
      async (c) => {
        const { id, inv_id: invitationId } = c.req.param()
        const inviter = { caller: c.var.principal, organizationId: id }
        return c.json(await invitations.revoke(inviter, invitationId))
      },
    )
