import {
  Alert,
  AlertFilter,
  AlertList,
  AlertTest,
  ChangedAlert,
  CreatedAlert,
  maxAlerts,
  NewAlert,
  Trigger,
} from './schema'
import type { AlertStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFieldsUpTo, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Alerts'
const path = '/api/account/alerts'
const params = { alert_id: objectId('alert').describe('ID of the alert') }

/** Usage alerts of an account. Source: contract 6.1. */
export const alertRoutes = (alerts: AlertStore): Route[] => [
  listAlerts(alerts),
  createAlert(alerts),
  getAlert(alerts),
  changeAlert(alerts),
  deleteAlert(alerts),
  testAlert(alerts),
  acknowledgeTrigger(alerts),
]

const listAlerts = (alerts: AlertStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listAlerts',
    tag,
    summary: 'List alerts',
    notes: 'Newest first. `getAlert` includes the events that triggered an alert.',
    query: AlertFilter.extend(pageFieldsUpTo(maxAlerts)),
    responses: { 200: AlertList },
    handler({ principal: { userId }, query }) {
      const scope = `alerts ${userId} ${query.type ?? ''} ${query.enabled ?? ''}`
      return alerts.list(userId, toPage(query, scope), query)
    },
  })

const createAlert = (alerts: AlertStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'createAlert',
    tag,
    summary: 'Create an alert',
    notes: 'Tollgate evaluates alerts every minute and sends a notification above the threshold.',
    body: NewAlert,
    examples: {
      'More than 10 USD a day': { name: 'Daily cost', type: 'cost_threshold', threshold: 10 },
      'A tenth of the requests fail': {
        name: 'Errors',
        type: 'error_rate',
        threshold: 10,
        period: 'hour',
        notification_channels: ['email'],
      },
    },
    responses: { 201: CreatedAlert },
    handler: ({ principal, body }) => alerts.create(principal.userId, body),
  })

const getAlert = (alerts: AlertStore) =>
  route({
    method: 'get',
    path: `${path}/:alert_id`,
    access: account('read'),
    operationId: 'getAlert',
    tag,
    summary: 'Get an alert',
    notes: '`recent_triggers` lists the last ten events that triggered it.',
    params,
    responses: { 200: Alert },
    handler: ({ principal, params: { alert_id: id } }) => alerts.get(principal.userId, id),
  })

const changeAlert = (alerts: AlertStore) =>
  route({
    method: 'put',
    path: `${path}/:alert_id`,
    access: account('write'),
    operationId: 'changeAlert',
    tag,
    summary: 'Update an alert',
    notes:
      'Type, threshold and period are validated together. A change of one of them restarts the evaluation.',
    params,
    body: ChangedAlert,
    examples: { 'Switch it off': { enabled: false } },
    responses: { 200: Alert },
    handler: ({ principal, params: { alert_id: id }, body }) =>
      alerts.change(principal.userId, id, body),
  })

const deleteAlert = (alerts: AlertStore) =>
  route({
    method: 'delete',
    path: `${path}/:alert_id`,
    access: account('write'),
    operationId: 'deleteAlert',
    tag,
    summary: 'Delete an alert',
    notes: 'Its history is deleted too. Its notifications stay in the inbox.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { alert_id: id } }) => alerts.delete(principal.userId, id),
  })

const testAlert = (alerts: AlertStore) =>
  route({
    method: 'post',
    path: `${path}/:alert_id/test`,
    access: account('write'),
    operationId: 'testAlert',
    tag,
    summary: 'Send a test notification',
    notes:
      'Five an hour. `channels` lists the channels that were reached. Works for a disabled alert, and does not count as a trigger.',
    params,
    responses: { 200: AlertTest },
    handler: ({ principal, params: { alert_id: id } }) => alerts.test(principal.userId, id),
  })

const acknowledgeTrigger = (alerts: AlertStore) =>
  route({
    method: 'post',
    path: `${path}/:alert_id/triggers/:trigger_id/acknowledge`,
    access: account('write'),
    operationId: 'acknowledgeAlertTrigger',
    tag,
    summary: 'Acknowledge a trigger of an alert',
    notes: 'Idempotent.',
    params: { ...params, trigger_id: objectId('trg').describe('ID of the trigger') },
    responses: { 200: Trigger },
    handler: ({ principal, params: { alert_id: id, trigger_id: triggerId } }) =>
      alerts.acknowledge(principal.userId, id, triggerId),
  })
