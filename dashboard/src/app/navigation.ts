import type { OperatorAccess } from '../api/role'

/** The account navigation, in groups. */
export const accountNavigation = [
  {
    name: 'Use',
    links: [
      { to: '/', label: 'Overview' },
      { to: '/playground', label: 'Playground' },
      { to: '/sessions', label: 'Sessions' },
      { to: '/templates', label: 'Templates' },
      { to: '/models', label: 'Models' },
      { to: '/logs', label: 'Logs' },
      { to: '/usage', label: 'Usage' },
      { to: '/explorer', label: 'Explorer' },
    ],
  },
  {
    name: 'Routing',
    links: [
      { to: '/connections', label: 'Connections' },
      { to: '/pools', label: 'Pools' },
      { to: '/gateways', label: 'Gateways' },
      { to: '/collections', label: 'Collections' },
      { to: '/mappings', label: 'Mappings' },
    ],
  },
  {
    name: 'Account',
    links: [
      { to: '/keys', label: 'API keys' },
      { to: '/billing', label: 'Billing' },
      { to: '/quota', label: 'Quota' },
      { to: '/budgets', label: 'Budgets' },
      { to: '/alerts', label: 'Alerts' },
      { to: '/inbox', label: 'Inbox' },
      { to: '/organizations', label: 'Organizations' },
      { to: '/support', label: 'Support' },
      { to: '/prompts', label: 'Prompts' },
      { to: '/settings', label: 'Settings' },
      { to: '/settings/security', label: 'Security' },
    ],
  },
] as const

/** The operator navigation, in groups; each link has the endpoint that its page reads. */
export const operatorNavigation = [
  {
    name: 'Activity',
    links: [
      { to: '/operator/overview', label: 'Installation overview', reads: 'GET /api/admin/usage' },
      {
        to: '/operator/explorer',
        label: 'Explorer of all accounts',
        reads: 'GET /api/admin/usage/breakdown',
      },
      { to: '/operator/requests', label: 'Requests', reads: 'GET /api/admin/request-logs' },
      {
        to: '/operator/quota-requests',
        label: 'Quota requests',
        reads: 'GET /api/admin/quota-requests',
      },
      { to: '/operator/tickets', label: 'Tickets', reads: 'GET /api/admin/tickets' },
    ],
  },
  {
    name: 'People',
    links: [
      { to: '/operator/users', label: 'Users', reads: 'GET /api/admin/users' },
      {
        to: '/operator/organizations',
        label: 'All organizations',
        reads: 'GET /api/admin/organizations',
      },
      { to: '/operator/scim', label: 'SCIM', reads: 'GET /api/admin/scim-directories' },
      { to: '/operator/plans', label: 'Plans', reads: 'GET /api/admin/plans' },
      { to: '/operator/transactions', label: 'Transactions', reads: 'GET /api/admin/transactions' },
      { to: '/operator/invoices', label: 'Invoices', reads: 'GET /api/admin/invoices' },
    ],
  },
  {
    name: 'Models',
    links: [
      { to: '/operator/providers', label: 'Providers', reads: 'GET /api/admin/providers' },
      { to: '/operator/models', label: 'Catalog', reads: 'GET /api/admin/models' },
      {
        to: '/operator/connections',
        label: 'Platform connections',
        reads: 'GET /api/admin/connections',
      },
      {
        to: '/operator/collections',
        label: 'System collections',
        reads: 'GET /api/admin/collections',
      },
    ],
  },
  {
    name: 'Installation',
    links: [
      { to: '/operator/branding', label: 'Branding', reads: 'GET /api/admin/branding' },
      { to: '/operator/config', label: 'Configuration', reads: 'GET /api/admin/config' },
      { to: '/operator/audit-trail', label: 'Audit log', reads: 'GET /api/admin/audit-trail' },
      {
        to: '/operator/audit-delivery',
        label: 'Audit delivery',
        reads: 'GET /api/admin/audit-destinations',
      },
      { to: '/operator/system', label: 'System', reads: 'GET /api/admin/system' },
    ],
  },
] as const

type OperatorLink = (typeof operatorNavigation)[number]['links'][number]

/** Returns the operator navigation with the pages that a role may open. */
export const toPermittedNavigation = (
  may: OperatorAccess['may'],
): { name: string; links: OperatorLink[] }[] =>
  operatorNavigation
    .map(({ name, links }) => ({
      name,
      links: [...links].filter((link: OperatorLink) => may(link.reads)),
    }))
    .filter(({ links }) => links.length > 0)
