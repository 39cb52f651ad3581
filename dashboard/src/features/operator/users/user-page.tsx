import { Alert, Anchor, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AccountCredits } from '../credits/account-credits'
import { SignInLink } from './sign-in-link'
import { UserKeys } from './user-keys'
import { UserLimits } from './user-limits'
import { UserProfile } from './user-profile'
import { UserSettings } from './user-settings'
import { UserState } from './user-state-form'
import { UserBadges } from './users-page'
import { api } from '../../../api/client'
import { Confirm } from '../../../components/confirm'
import { RequestsLink } from '../requests/requests-link'
import { ChangesLink } from '../audit-log/changes-link'
import { Loaded } from '../../../components/loaded'
import { Page } from '../../../components/page'
import { Permitted, PermittedForms } from '../../../components/permitted'
import { useRefresh } from '../refresh'
import { useOperatorAccess } from '../../../api/role'
import { userQuery, type User } from './queries'

const route = getRouteApi('/home/operator/users/$id')

export function UserPage() {
  const { id } = route.useParams()
  const query = useQuery(userQuery(id))
  const { data: user } = query
  return (
    <Page
      title={user?.display_name ?? 'User'}
      list="Users"
      about={user?.email ?? ''}
      back={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/operator/users" search={{}} {...props} />}
        >
          All users
        </Anchor>
      }
      actions={user && <UserActions user={user} />}
    >
      <Group>
        {user && <UserBadges user={user} />}
        <RequestsLink id={id} />
        <ChangesLink id={id} />
      </Group>
      <Loaded query={query} what="account">
        {(one) => <UserSections key={one.id} user={one} />}
      </Loaded>
    </Page>
  )
}

const UserActions = ({ user }: { user: User }) => (
  <Group gap="sm">
    {user.status === 'active' && (
      <Permitted to="POST /api/admin/users/{id}/sign-in-link">
        <SignInLink user={user} />
      </Permitted>
    )}
    {/* Accounts of operators are suspended by those who may change them. */}
    <Permitted
      to={
        user.operator_role === null
          ? 'POST /api/admin/users/{id}/suspend'
          : 'PUT /api/admin/users/{id}'
      }
    >
      <UserState user={user} />
    </Permitted>
  </Group>
)

function UserSections({ user }: { user: User }) {
  const { tab = 'account', page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useOperatorAccess()
  return (
    <Stack gap="md">
      {user.status === 'suspended' && (
        <Alert color="yellow" title="Suspended">
          {user.suspended_reason ?? 'No reason given.'}
        </Alert>
      )}
      {user.blocked && <Blocked user={user} />}
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next ?? undefined }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="account">Account</Tabs.Tab>
          <Tabs.Tab value="limits">Limits</Tabs.Tab>
          {may('GET /api/admin/users/{id}/keys') && <Tabs.Tab value="keys">Keys</Tabs.Tab>}
          <Tabs.Tab value="credits">Credits</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="account" pt="md">
          <Stack gap="md">
            <PermittedForms to="PUT /api/admin/users/{id}">
              <UserProfile user={user} />
            </PermittedForms>
            <UserSettings user={user} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="limits" pt="md">
          <PermittedForms to="PUT /api/admin/users/{id}">
            <UserLimits user={user} />
          </PermittedForms>
        </Tabs.Panel>
        <Tabs.Panel value="keys" pt="md">
          <Permitted to="GET /api/admin/users/{id}/keys">
            <UserKeys user={user} />
          </Permitted>
        </Tabs.Panel>
        <Tabs.Panel value="credits" pt="md">
          <AccountCredits
            account={user.id}
            name={user.display_name}
            balance={user.balance}
            page={page}
            onPage={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
          />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

/** A block set by the ledger audit, which found an inconsistency: the account cannot make paid requests. */
function Blocked({ user }: { user: User }) {
  const [isConfirming, setConfirming] = useState(false)
  const refresh = useRefresh()
  const unblock = async () => {
    await api.PUT('/api/admin/users/{id}', {
      params: { path: { id: user.id } },
      body: { blocked: false },
    })
    await refresh()
  }
  return (
    <Alert color="red" title="Blocked by the ledger audit">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{user.blocked_reason}</Text>
        <Permitted to="PUT /api/admin/users/{id}">
          <Button size="xs" color="red" variant="light" onClick={() => setConfirming(true)}>
            Unblock
          </Button>
        </Permitted>
      </Stack>
      {isConfirming && (
        <Confirm
          question={`Unblock ${user.display_name}?`}
          about="Unblock only after the ledger was corrected: the next audit blocks the account again if it finds the same inconsistency."
          label="Unblock"
          cancel="Cancel"
          onConfirm={unblock}
          onClose={() => setConfirming(false)}
        />
      )}
    </Alert>
  )
}
