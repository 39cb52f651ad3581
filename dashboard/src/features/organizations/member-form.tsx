import { Modal, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { organizationQuery, rolesBelow, type Member, type Organization } from './queries'

interface Props {
  organization: Organization
  member: Member
  onClose: () => void
}

export function ChangeMember({ organization: { id, role }, member, onClose }: Props) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: {
      role: member.role,
      department: member.department ?? '',
      spending_limit: member.spending_limit ?? '',
    },
  })
  const save = async (fields: typeof form.values) => {
    const body = {
      ...(fields.role !== member.role && { role: fields.role }),
      department: fields.department.trim() || null,
      spending_limit: fields.spending_limit === '' ? null : Number(fields.spending_limit),
    }
    const param = { id, user_id: member.user_id }
    await api.PUT('/api/organizations/{id}/members/{user_id}', { params: { path: param }, body })
    await queries.invalidateQueries(organizationQuery(id))
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={member.display_name}>
      <ResourceForm form={form} save={save} label="Save" onCancel={onClose}>
        <Select
          label="Role"
          data={rolesBelow(role)}
          allowDeselect={false}
          data-autofocus
          {...form.getInputProps('role')}
        />
        {form.values.role === 'owner' && (
          <Text size="sm" role="status">
            This transfers ownership of the organization: you become an admin.
          </Text>
        )}
        <TextInput label="Department" maxLength={100} {...form.getInputProps('department')} />
        <NumberInput
          label="Monthly spending limit"
          description="USD; empty for the organization's default"
          min={0}
          decimalScale={2}
          prefix="$"
          {...form.getInputProps('spending_limit')}
        />
      </ResourceForm>
    </Modal>
  )
}
