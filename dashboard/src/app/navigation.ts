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

/** The operator navigation, in groups. */
export const operatorNavigation = [
  {
    name: 'Activity',
    links: [
      { to: '/operator/overview', label: 'Installation overview' },
      { to: '/operator/explorer', label: 'Explorer of all accounts' },
      { to: '/operator/requests', label: 'Requests' },
      { to: '/operator/quota-requests', label: 'Quota requests' },
      { to: '/operator/tickets', label: 'Tickets' },
    ],
  },
  {
    name: 'People',
    links: [
      { to: '/operator/users', label: 'Users' },
      { to: '/operator/organizations', label: 'All organizations' },
      { to: '/operator/scim', label: 'SCIM' },
      { to: '/operator/plans', label: 'Plans' },
      { to: '/operator/transactions', label: 'Transactions' },
      { to: '/operator/invoices', label: 'Invoices' },
    ],
  },
  {
    name: 'Models',
    links: [
      { to: '/operator/providers', label: 'Providers' },
      { to: '/operator/models', label: 'Catalog' },
      { to: '/operator/connections', label: 'Platform connections' },
      { to: '/operator/collections', label: 'System collections' },
    ],
  },
  {
    name: 'Installation',
    links: [
      { to: '/operator/branding', label: 'Branding' },
      { to: '/operator/config', label: 'Configuration' },
      { to: '/operator/audit-trail', label: 'Audit log' },
      { to: '/operator/audit-delivery', label: 'Audit delivery' },
      { to: '/operator/system', label: 'System' },
    ],
  },
] as const
