import { Anchor, Badge, Group, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { api, type Schemas } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { ListPage } from '../../components/list-page'
import { organizationsQuery } from './queries'
import { OwnInvitations } from './own-invitations'

export const OrganizationsPage = () => (
  <ListPage
    title="Organizations"
    about="Share connections, credits and limits with your team."
    query={useQuery(organizationsQuery)}
    empty={{
      title: 'No organizations yet',
      text: 'Create one to share connections, credits and limits with others, or ask for an invitation.',
    }}
    add={{ label: 'New organization', form: (close) => <NewOrganization onClose={close} /> }}
    above={<OwnInvitations />}
  >
    {(organizations) => <OrganizationTable organizations={organizations} />}
  </ListPage>
)

type Listed = Schemas['OrganizationList']['organizations']

const OrganizationTable = ({ organizations }: { organizations: Readonly<Listed> }) => (
  <ListTable columns={['Name', { name: 'Your role', position: 'aside' }, 'Members']} minWidth={520}>
    {organizations.map((one) => (
      <Table.Tr key={one.id}>
        <Table.Td>
          {one.status === 'active' ? (
            <Anchor
              fw={500}
              renderRoot={(props) => (
                <Link to="/organizations/$id" params={{ id: one.id }} search={{}} {...props} />
              )}
            >
              {one.name}
            </Anchor>
          ) : (
            <Text fw={500}>{one.name}</Text>
          )}
          <Text size="xs" c="dimmed">
            {one.slug}/
          </Text>
        </Table.Td>
        <Table.Td>
          <Group gap={6}>
            <Badge variant="light">{one.role}</Badge>
            {one.status !== 'active' && <Badge color="yellow">{one.status}</Badge>}
            {one.is_primary && <Badge variant="outline">primary</Badge>}
          </Group>
        </Table.Td>
        <Table.Td>{one.member_count}</Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

function NewOrganization({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { name: '', slug: '' } })
  const save = async ({ name, slug }: typeof form.values) => {
    await api.POST('/api/organizations', { body: { name, ...(slug && { slug }) } })
    await queries.invalidateQueries(organizationsQuery)
    notifications.show({ message: `${name} was created.` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onClose}>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="Short name"
        description="The prefix of its models: <short name>/<provider>/<model>; derived from the name when empty"
        {...form.getInputProps('slug')}
      />
    </ResourceForm>
  )
}
