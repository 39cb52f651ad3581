import { Anchor, Badge, Group, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListTable } from '../components/list-table'
import { api, json } from '../api'
import { FormFrame } from '../components/form-frame'
import { ListPage } from '../components/list-page'
import { organizationsQuery } from '../organizations'
import { useSubmit } from '../submit'
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
    add={{ label: 'New organization', form: (close) => <NewOrganization onDone={close} /> }}
    above={<OwnInvitations />}
  >
    {(organizations) => <OrganizationTable organizations={organizations} />}
  </ListPage>
)

type Listed = Awaited<ReturnType<NonNullable<typeof organizationsQuery.queryFn>>>

const OrganizationTable = ({ organizations }: { organizations: Readonly<Listed> }) => (
  <ListTable columns={['Name', { name: 'Your role', place: 'aside' }, 'Members']} minWidth={520}>
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

function NewOrganization({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { name: '', slug: '' } })
  const submission = useSubmit(async ({ name, slug }: typeof form.values) => {
    await api.organizations.$post(undefined, json({ name, ...(slug && { slug }) }))
    await queries.invalidateQueries(organizationsQuery)
    notifications.show({ message: `${name} was created.` })
    onDone()
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Create" onCancel={onDone}>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="Short name"
        description="The prefix of its models: <short name>/<provider>/<model>; derived from the name when empty"
        {...form.getInputProps('slug')}
      />
    </FormFrame>
  )
}
