import { roleNames, type OperatorRole } from '../../../api/role'

/** The meaning of each role, in words. */
export const roleMeanings: Readonly<Record<OperatorRole, string>> = {
  operator: 'Has access to every account, every balance, the configuration and all provider keys.',
  support:
    'Reads accounts and requests, answers tickets, suspends and reinstates customers. Changes no money, configuration or provider.',
  finance:
    'Reads accounts, requests, costs and margins; grants and adjusts credits, changes plans, decides on quota requests.',
  read_only: 'Reads the operator pages, without secrets and request bodies, and changes nothing.',
}

/** The roles to choose from; the empty one is that of customers. */
export const roleChoices = [
  { value: '', label: 'None' },
  ...Object.entries(roleNames).map(([value, label]) => ({ value, label })),
]
