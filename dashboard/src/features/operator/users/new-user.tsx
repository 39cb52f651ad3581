import { Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { useSendsEmail } from '../../../api/installation'
import type { OperatorRole } from '../../../api/role'
import { toBody } from '../../../components/changed-fields'
import { ResourceForm } from '../../../components/resource-form'
import { roleChoices } from './role-choices'
import { PlanSelect } from '../plans/plan-select'

interface Fields {
  email: string
  display_name: string
  plan_id: string | null
  operator_role: OperatorRole | null
}

const initialValues: Fields = { email: '', display_name: '', plan_id: null, operator_role: null }

/** Creates an account and opens its page. */
export function NewUser({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const sendsEmail = useSendsEmail()
  const form = useForm({ initialValues })
  const save = async (fields: Fields) => {
    const body = toBody<Schemas['NewUser']>(fields)
    const { id, email } = await bodyOf(api.POST('/api/admin/users', { body }))
    await queries.invalidateQueries({ queryKey: ['operator', 'users'] })
    notifications.show({ message: `${email} was created.` })
    onClose()
    await navigate({ to: '/operator/users/$id', params: { id } })
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onClose}>
      <TextInput
        label="Email"
        description={
          sendsEmail
            ? 'Receives an email with sign-in instructions'
            : 'Receives no email: copy a sign-in link on the page of the account'
        }
        type="email"
        required
        maxLength={254}
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput
        label="Name"
        description="If empty, the part of the email before the @"
        maxLength={100}
        {...form.getInputProps('display_name')}
      />
      <PlanSelect
        label="Plan"
        placeholder="Default plan"
        clearable
        {...form.getInputProps('plan_id')}
      />
      <Select
        label="Role of operators"
        description="What the account may do on these operator pages"
        placeholder="None"
        clearable
        data={roleChoices.filter(({ value }) => value !== '')}
        {...form.getInputProps('operator_role')}
      />
    </ResourceForm>
  )
}
