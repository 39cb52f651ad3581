import {
  Alert,
  AlertList,
  AlertTest,
  ChangedAlert,
  CreatedAlert,
  NewAlert,
  Trigger,
} from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Alerts'

const examples = {
  'More than 10 USD a day': { name: 'Daily cost', type: 'cost_threshold', threshold: 10 },
  'A tenth of the requests fail': {
    name: 'Errors',
    type: 'error_rate',
    threshold: 10,
    period: 'hour',
    notification_channels: ['email'],
  },
}

export const listAlerts = accountRoute({
  operationId: 'listAlerts',
  summary: 'Your alerts, newest first; without a limit all of them',
  tag,
  query: ['type', 'enabled', ...paging],
  answer: AlertList,
})

export const createAlert = accountRoute({
  operationId: 'createAlert',
  summary: 'Be told when something about your requests passes a threshold',
  tag,
  status: 201,
  body: ['NewAlert', NewAlert, examples],
  answer: CreatedAlert,
})

export const getAlert = accountRoute({
  operationId: 'getAlert',
  summary: 'An alert with what triggered it last',
  tag,
  path: ['alert_id'],
  answer: Alert,
})

export const changeAlert = accountRoute({
  operationId: 'changeAlert',
  summary: 'Change an alert',
  tag,
  path: ['alert_id'],
  body: ['ChangedAlert', ChangedAlert, { 'Switch it off': { enabled: false } }],
  answer: Alert,
})

export const deleteAlert = accountRoute({
  operationId: 'deleteAlert',
  summary: 'Delete an alert and its history',
  tag,
  path: ['alert_id'],
  answer: Done,
})

export const testAlert = accountRoute({
  operationId: 'testAlert',
  summary: 'Send a test notification on the channels of an alert; five an hour',
  tag,
  path: ['alert_id'],
  answer: AlertTest,
})

export const acknowledgeTrigger = accountRoute({
  operationId: 'acknowledgeAlertTrigger',
  summary: 'Mark what triggered an alert as seen',
  tag,
  path: ['alert_id', 'trigger_id'],
  answer: Trigger,
})
