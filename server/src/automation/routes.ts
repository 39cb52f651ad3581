import { Hono } from 'hono'
import type { ConversationStore } from './conversation'
import * as described from './description'
import { send, type MessagePorts } from './messages'
import { ChangedSession, Completion, NewMessage, NewSession, SessionFilters } from './schema'
import type { SessionStore } from './sessions'
import { ChangedTemplate, NewTemplate, TemplateFilters } from './template-schema'
import type { TemplateStore } from './templates'
import type { Env } from '../http/env'
import { readChangedFields, readNewFields } from '../http/fields'
import type { Guards } from '../http/guards'
import { toPage, toSearch } from '../http/paging'
import type { ReplyPorts } from '../v1/reply'
import { check } from '../wire/json-body'

/** The dependencies of the routes, except the gateway. */
export interface Automation extends Omit<MessagePorts, 'gateway'> {
  sessions: SessionStore
  templates: TemplateStore
  conversations: ConversationStore
}

interface Ports extends Pick<MessagePorts, 'gateway'> {
  automation: Automation
  reply: ReplyPorts
}

const paths = '/api/automation/sessions'
const one = `${paths}/:id`
const templatePaths = '/api/automation/templates'

/** Routes of stored conversations, and of the templates they are created from. Source: contract 8. */
export const automationRoutes = (ports: Ports, guards: Guards) =>
  new Hono<Env>()
    .route('/', sessionRoutes(ports, guards))
    .route('/', messageRoutes(ports, guards))
    .route('/', templateRoutes(ports, guards))

const sessionRoutes = ({ automation: { sessions } }: Ports, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listSessions, account('read', 'account'), async (c) => {
      const filters = check(SessionFilters, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `sessions ${userId} ${JSON.stringify(filters)}`)
      return c.json(await sessions.list(userId, filters, page))
    })
    .post(paths, described.createSession, account('write', 'account', 'larger'), async (c) =>
      c.json(
        await sessions.create(c.var.principal.userId, await readNewFields(c, NewSession)),
        201,
      ),
    )
    .get(one, described.getSession, account('read', 'account'), async (c) =>
      c.json(await sessions.get(c.var.principal.userId, c.req.param('id'))),
    )
    .patch(one, described.changeSession, account('write', 'account', 'larger'), async (c) => {
      const fields = await readChangedFields(c, ChangedSession)
      return c.json(await sessions.change(c.var.principal.userId, c.req.param('id'), fields))
    })
    .delete(one, described.deleteSession, account('write', 'account'), async (c) =>
      c.json(await sessions.delete(c.var.principal.userId, c.req.param('id'))),
    )
    .post(
      `${one}/complete`,
      described.completeSession,
      account('write', 'account', 'larger'),
      async (c) => {
        const { summary } = await readNewFields(c, Completion)
        return c.json(await sessions.complete(c.var.principal.userId, c.req.param('id'), summary))
      },
    )

const messageRoutes = ({ gateway, automation, reply }: Ports, { account }: Guards) =>
  new Hono<Env>()
    .post(
      `${one}/messages`,
      described.sendMessage,
      account('write', 'account', 'larger'),
      async (c) => {
        const message = await readNewFields(c, NewMessage)
        const sending = { c, sessionId: c.req.param('id'), message }
        return send(sending, { ...automation, gateway }, reply)
      },
    )
    .get(
      `${one}/conversation`,
      described.getConversation,
      account('read', 'account'),
      async (c) => {
        const { userId } = c.var.principal
        const id = c.req.param('id')
        const page = toPage(c, `conversation ${userId} ${id}`)
        return c.json(await automation.conversations.list(userId, id, page))
      },
    )

const templateRoutes = ({ automation: { templates } }: Ports, { account }: Guards) =>
  new Hono<Env>()
    .get(templatePaths, described.listTemplates, account('read', 'account'), async (c) => {
      const { category } = check(TemplateFilters, c.req.query())
      const listing = { category, search: toSearch(c) }
      return c.json(await templates.list(c.var.principal.userId, listing))
    })
    .post(
      templatePaths,
      described.createTemplate,
      account('write', 'account', 'larger'),
      async (c) =>
        c.json(
          await templates.create(c.var.principal.userId, await readNewFields(c, NewTemplate)),
          201,
        ),
    )
    .put(
      `${templatePaths}/:id`,
      described.changeTemplate,
      account('write', 'account', 'larger'),
      async (c) => {
        const fields = await readChangedFields(c, ChangedTemplate)
        return c.json(await templates.change(c.var.principal.userId, c.req.param('id'), fields))
      },
    )
    .delete(
      `${templatePaths}/:id`,
      described.deleteTemplate,
      account('write', 'account'),
      async (c) => c.json(await templates.delete(c.var.principal.userId, c.req.param('id'))),
    )
