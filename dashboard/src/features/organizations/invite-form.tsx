import { List, Modal, Select, Text, Textarea } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, bodyOf } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { count } from '../../format/figures'
import { invitationsQuery, invitedBy, type InvitedRole, type Organization } from './queries'

interface Failed {
  email: string
  message: string
}

interface Fields {
  addresses: string
  role: InvitedRole
  message: string
}

const maxAddresses = 100

/** Splits pasted addresses, on separate lines or separated by commas. */
const addressesIn = (text: string) => [
  ...new Set(text.split(/[\s,;]+/).filter((address) => address !== '')),
]

/** Sends each invitation and returns those that failed. The message is sent with a single invitation only. */
async function invite(id: string, { addresses, role, message }: Fields): Promise<Failed[]> {
  const emails = addressesIn(addresses)
  const [email] = emails
  if (email !== undefined && emails.length === 1) {
    await api.POST('/api/organizations/{id}/members/invite', {
      params: { path: { id } },
      body: { email, role, message: message || undefined },
    })
    return []
  }
  const body = { invitations: emails.map((one) => ({ email: one, role })) }
  const { errors } = await bodyOf(
    api.POST('/api/organizations/{id}/members/invite/bulk', { params: { path: { id } }, body }),
  )
  return errors.map(({ index, message: why }) => ({ email: emails[index] ?? '', message: why }))
}

const addressProblem = (text: string) => {
  const { length } = addressesIn(text)
  if (length === 0) return 'Enter at least one address.'
  return length > maxAddresses
    ? `Enter at most ${maxAddresses} addresses; you entered ${count(length)}.`
    : null
}

const Failures = ({ failed }: { failed: readonly Failed[] }) =>
  failed.length > 0 && (
    <div role="alert">
      <Text size="sm">These invitations failed:</Text>
      <List size="sm">
        {failed.map(({ email, message }) => (
          <List.Item key={email}>
            {email}: {message}
          </List.Item>
        ))}
      </List>
    </div>
  )

interface RoleProps {
  form: UseFormReturnType<Fields>
  roles: InvitedRole[]
}

const RoleOf = ({ form, roles }: RoleProps) => (
  <Select label="Role" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
)

interface Props {
  organization: Organization
  onClose: () => void
}

/** Invites one or several people. */
export function Invite({ organization: { id, role }, onClose }: Props) {
  const queries = useQueryClient()
  const [failed, setFailed] = useState<readonly Failed[]>([])
  const form = useForm<Fields>({
    initialValues: { addresses: '', role: 'member', message: '' },
    validate: { addresses: addressProblem },
  })
  const save = async (fields: Fields) => {
    try {
      const others = await invite(id, fields)
      const invitedCount = addressesIn(fields.addresses).length - others.length
      notifications.show({ message: `${count(invitedCount)} invited.` })
      setFailed(others)
      // Failed addresses stay for correction.
      form.setFieldValue('addresses', others.map(({ email }) => email).join('\n'))
      if (others.length === 0) onClose()
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.param !== 'email') throw thrown
      form.setFieldError('addresses', thrown.message)
    } finally {
      await queries.invalidateQueries(invitationsQuery(id))
    }
  }
  const isAlone = addressesIn(form.values.addresses).length <= 1
  return (
    <Modal opened onClose={onClose} title="Invite members">
      <ResourceForm form={form} save={save} label="Invite" onCancel={onClose}>
        <Textarea
          label="Email addresses"
          description="Up to 100, one per line"
          autosize
          minRows={2}
          maxRows={10}
          required
          data-autofocus
          {...form.getInputProps('addresses')}
        />
        <Failures failed={failed} />
        <RoleOf form={form} roles={invitedBy(role)} />
        {isAlone && (
          <Textarea
            label="Message"
            description="Included in the email; optional"
            maxLength={500}
            autosize
            minRows={2}
            {...form.getInputProps('message')}
          />
        )}
      </ResourceForm>
    </Modal>
  )
}
