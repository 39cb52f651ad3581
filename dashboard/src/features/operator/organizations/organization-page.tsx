import { Anchor, Button, Group, Stack, Tabs } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AccountCredits } from '../credits/account-credits'
import { OrganizationTerms } from './organization-terms'
import { OrganizationState } from './organizations-page'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { ChangesLink } from '../audit-log/changes-link'
import { Confirm } from '../../../components/confirm'
import { Loaded } from '../../../components/loaded'
import { OrganizationForm } from '../../organizations/organization-form'
import { Page } from '../../../components/page'
import { Permitted, PermittedForms } from '../../../components/permitted'
import { Problem } from '../../../components/problem'
import { operatedOneQuery, type Operated } from './queries'
import { useRefresh } from '../refresh'
import { useSubmit } from '../../../components/use-submit'

const route = getRouteApi('/home/operator/organizations/$id')

export function OperatedOrganizationPage() {
  const { id } = route.useParams()
  const query = useQuery(operatedOneQuery(id))
  const { data: organization } = query
  return (
    <Page
      title={organization?.name ?? 'Organization'}
      list="All organizations"
      about={organization?.description ?? ''}
      back={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/operator/organizations" search={{}} {...props} />}
        >
          All organizations
        </Anchor>
      }
      actions={
        organization && (
          <Permitted to="PUT /api/admin/organizations/{id}">
            <Actions organization={organization} />
          </Permitted>
        )
      }
    >
      <Group>
        {organization && <OrganizationState one={organization} />}
        <ChangesLink id={id} />
      </Group>
      <Loaded query={query} what="organization">
        {(one) => <OrganizationSections key={one.id} organization={one} />}
      </Loaded>
    </Page>
  )
}

/** Saves changes of an organization and shows the result. */
function useChange(id: string) {
  const refresh = useRefresh()
  return async (body: Schemas['OperatedOrganization']) => {
    const params = { path: { id } }
    const saved = await bodyOf(api.PUT('/api/admin/organizations/{id}', { params, body }))
    await refresh()
    return saved
  }
}

function OrganizationSections({ organization }: { organization: Operated }) {
  const { tab = 'settings', page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const save = useChange(organization.id)
  return (
    <Tabs
      value={tab}
      onChange={(next) => void navigate({ search: { tab: next ?? undefined }, replace: true })}
      keepMounted={false}
    >
      <Tabs.List>
        <Tabs.Tab value="settings">Settings and limits</Tabs.Tab>
        <Tabs.Tab value="credits">Credits</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings" pt="md">
        <PermittedForms to="PUT /api/admin/organizations/{id}">
          <Stack gap="md">
            <OrganizationTerms organization={organization} onSave={save} />
            <OrganizationForm organization={organization} canRename onSave={save} />
          </Stack>
        </PermittedForms>
      </Tabs.Panel>
      <Tabs.Panel value="credits" pt="md">
        <AccountCredits
          account={organization.id}
          name={organization.name}
          balance={organization.credit_balance}
          page={page}
          onPage={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
        />
      </Tabs.Panel>
    </Tabs>
  )
}

function Actions({ organization: { id, name, status } }: { organization: Operated }) {
  const [dialog, setDialog] = useState<'suspend' | 'delete'>()
  const change = useChange(id)
  const refresh = useRefresh()
  const navigate = useNavigate()
  const closeDialog = () => setDialog(undefined)
  const { submit, isBusy, error } = useSubmit(() => change({ status: 'active' }))
  const remove = async () => {
    await api.DELETE('/api/admin/organizations/{id}', { params: { path: { id } } })
    notifications.show({ message: `${name} was deleted.` })
    await navigate({ to: '/operator/organizations', search: {} })
    void refresh()
  }
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {status === 'suspended' ? (
          <Button loading={isBusy} onClick={() => void submit(undefined)}>
            Reinstate
          </Button>
        ) : (
          <Button color="red" variant="light" onClick={() => setDialog('suspend')}>
            Suspend
          </Button>
        )}
        <Button color="red" variant="light" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      <Problem error={error} />
      {dialog === 'suspend' && (
        <Confirm
          question={`Suspend ${name}?`}
          about="Within a second its connections and credits stop serving requests. Its data stays and it can be reinstated."
          label="Suspend"
          cancel="Cancel"
          onConfirm={() => change({ status: 'suspended' })}
          onClose={closeDialog}
        />
      )}
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Its members lose its connections and limits. A pool that holds credits must be emptied first. This cannot be undone."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </Stack>
  )
}
