import { Anchor, Badge, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { Tile } from '../../components/tile'
import { Tiles } from '../../components/tiles'
import { count } from '../../format/figures'
import { Money } from '../../components/money'
import { usd } from '../../format/money'
import { isManager, organizationQuery, organizationsQuery, type Organization } from './queries'
import { toTrailSearch, type TrailSearch } from './audit-log-queries'
import { periods } from '../../url/period'
import { oneOf } from '../../url/search'
import { sessionQuery } from '../../api/session'
import { balanceQuery } from '../billing/queries'
import { sharedGroupings } from '../usage/queries'
import { OrganizationBudgets } from './organization-budgets'
import { OrganizationInvitations } from './organization-invitations'
import { OrganizationLimits } from './organization-limits'
import { OrganizationMembers } from './organization-members'
import { OrganizationScim } from './organization-scim'
import { OrganizationTrail } from './organization-audit-log'
import { OrganizationUsage } from './organization-usage'
import { Destinations } from '../alerts/destinations'

const route = getRouteApi('/home/organizations/$id')

export function OrganizationPage() {
  const { id } = route.useParams()
  const query = useQuery(organizationQuery(id))
  const { data: organization } = query
  return (
    <Page
      title={organization?.name ?? 'Organization'}
      list="Organizations"
      about={organization?.description ?? 'Members, billing and limits.'}
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/organizations" {...props} />}>
          All organizations
        </Anchor>
      }
      actions={organization && <Leave organization={organization} />}
    >
      <Loaded query={query} what="organization">
        {(one) => <OrganizationSections organization={one} />}
      </Loaded>
    </Page>
  )
}

function OrganizationSections({ organization }: { organization: Organization }) {
  const search = route.useSearch()
  const { tab = 'members', by, period } = search
  const navigate = route.useNavigate()
  const go = (change: TrailSearch & { tab?: string; by?: string; period?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  const manages = isManager(organization)
  return (
    <>
      <Figures organization={organization} />
      <Tabs value={tab} onChange={(next) => go({ tab: next ?? 'members' })} keepMounted={false}>
        <SectionTabs organization={organization} />
        <Tabs.Panel value="members" pt="md">
          <OrganizationMembers organization={organization} />
        </Tabs.Panel>
        {manages && (
          <Tabs.Panel value="invitations" pt="md">
            <OrganizationInvitations organization={organization} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="usage" pt="md">
          <OrganizationUsage
            organization={organization}
            by={oneOf({ by }, 'by', sharedGroupings) ?? 'user'}
            period={oneOf({ period }, 'period', periods) ?? '30d'}
            onChange={go}
          />
        </Tabs.Panel>
        {organization.role !== 'viewer' && (
          <Tabs.Panel value="budgets" pt="md">
            <OrganizationBudgets organization={organization} />
          </Tabs.Panel>
        )}
        {manages && (
          <Tabs.Panel value="limits" pt="md">
            <Stack gap="lg">
              <OrganizationLimits organization={organization} />
              <Destinations organizationId={organization.id} />
              <OrganizationScim organization={organization} />
            </Stack>
          </Tabs.Panel>
        )}
        {manages && (
          <Tabs.Panel value="trail" pt="md">
            <OrganizationTrail
              id={organization.id}
              search={toTrailSearch(search)}
              onChange={(changed) => go(changed)}
            />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  )
}

function SectionTabs({ organization }: { organization: Organization }) {
  const manages = isManager(organization)
  return (
    <Tabs.List>
      <Tabs.Tab value="members">Members</Tabs.Tab>
      {manages && <Tabs.Tab value="invitations">Invitations</Tabs.Tab>}
      <Tabs.Tab value="usage">Usage</Tabs.Tab>
      {organization.role !== 'viewer' && <Tabs.Tab value="budgets">Budgets</Tabs.Tab>}
      {manages && <Tabs.Tab value="limits">Settings</Tabs.Tab>}
      {manages && <Tabs.Tab value="trail">Audit log</Tabs.Tab>}
    </Tabs.List>
  )
}

function Figures({ organization }: { organization: Organization }) {
  const { id, slug, role, is_primary: isPrimary, member_count, member_limit } = organization
  const { data: balance } = useQuery({
    ...balanceQuery(id),
    refetchInterval: false,
    enabled: isManager(organization),
  })
  return (
    <Stack gap="sm">
      <Group gap={6}>
        <Text size="sm" c="dimmed">
          Models of this organization: {slug}/provider/model.
        </Text>
        <Badge variant="light">your role: {role}</Badge>
        {isPrimary && <Badge variant="outline">primary</Badge>}
      </Group>
      <Tiles>
        {balance && (
          <Tile
            label="Pool balance"
            value={<Money amount={balance.balance} />}
            hint={
              <>
                {balance.held > 0 && `${usd(balance.held)} reserved for running requests. `}
                <Anchor
                  inherit
                  underline="always"
                  renderRoot={(props) => (
                    <Link to="/billing" search={{ organization: id }} {...props} />
                  )}
                >
                  Add credits
                </Anchor>
              </>
            }
          />
        )}
        <Tile label="Members" value={`${count(member_count)} of ${count(member_limit)}`} />
        <Tile
          label="Monthly spending limit"
          value={
            organization.monthly_spend_limit === null
              ? 'none'
              : usd(organization.monthly_spend_limit)
          }
        />
      </Tiles>
    </Stack>
  )
}

/** Leaves the organization; its owner deletes it instead. */
function Leave({ organization: { id, name, role } }: { organization: Organization }) {
  const [isConfirming, setConfirming] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data: session } = useSuspenseQuery(sessionQuery)
  const isOwner = role === 'owner'
  const go = async () => {
    await (isOwner
      ? api.DELETE('/api/organizations/{id}', { params: { path: { id } } })
      : api.DELETE('/api/organizations/{id}/members/{user_id}', {
          params: { path: { id, user_id: session?.user.id ?? '' } },
        }))
    await navigate({ to: '/organizations' })
    queries.removeQueries(organizationQuery(id))
    await queries.invalidateQueries(organizationsQuery)
  }
  return (
    <>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {isOwner ? 'Delete organization' : 'Leave'}
      </Button>
      {isConfirming && (
        <Confirm
          question={isOwner ? `Delete ${name}?` : `Leave ${name}?`}
          about={
            isOwner
              ? 'Its connections, collections and memberships are deleted. Its pool must be empty.'
              : 'You lose access to its connections and credits. To rejoin, you need an invitation.'
          }
          label={isOwner ? 'Delete' : 'Leave'}
          onConfirm={go}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  )
}
