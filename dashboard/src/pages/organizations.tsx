import { Anchor, Badge, Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, json } from '../api'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { Page } from '../components/page'
import { FormButtons } from '../components/form-buttons'
import { Problem } from '../components/problem'
import { organizationsQuery } from '../organizations'
import { useSubmit } from '../submit'
import { OwnInvitations } from './own-invitations'

export function OrganizationsPage() {
  const query = useQuery(organizationsQuery)
  const [isOpen, { open, close }] = useDisclosure()
  const make = <Button onClick={open}>New organization</Button>
  return (
    <Page
      title="Organizations"
      about="Connections and credit that several people share."
      actions={query.data && query.data.length > 0 && make}
    >
      <OwnInvitations />
      <Loaded query={query}>
        {(organizations) =>
          organizations.length === 0 ? (
            <Empty title="You belong to no organization" action={make}>
              Make one to share connections, credit and limits with others, or ask for an
              invitation.
            </Empty>
          ) : (
            <OrganizationTable organizations={organizations} />
          )
        }
      </Loaded>
      <Modal opened={isOpen} onClose={close} title="New organization">
        <NewOrganization onDone={close} />
      </Modal>
    </Page>
  )
}

type Listed = Awaited<ReturnType<NonNullable<typeof organizationsQuery.queryFn>>>

const OrganizationTable = ({ organizations }: { organizations: Listed }) => (
  <Table.ScrollContainer minWidth={520}>
    <Table verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Your role</Table.Th>
          <Table.Th>Members</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
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
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

function NewOrganization({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { name: '', slug: '' } })
  const { submit, isBusy, error } = useSubmit(async ({ name, slug }: typeof form.values) => {
    await api.organizations.$post(undefined, json({ name, ...(slug && { slug }) }))
    await queries.invalidateQueries(organizationsQuery)
    notifications.show({ message: `${name} was made.` })
    onDone()
  }, form)
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="sm">
        <Problem error={error} />
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <TextInput
          label="Short name"
          description="Its models are called as <short name>/<provider>/<model>; made from the name when empty"
          {...form.getInputProps('slug')}
        />
        <FormButtons label="Make it" isBusy={isBusy} onCancel={onDone} />
      </Stack>
    </form>
  )
}
