import {
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
  type TextInputProps,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client'
import { Loaded } from '../../components/loaded'
import { ResourceForm } from '../../components/resource-form'
import { companyQuery, type Company } from './invoice-queries'

interface Owner {
  organization: string | undefined
}

/** The company on the next invoices. */
export function CompanyCard({ organization }: Owner) {
  const query = useQuery(companyQuery(organization))
  return (
    <Paper withBorder p="lg" component="section" aria-label="Company">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Company
        </Title>
        <Text size="sm" c="dimmed">
          On your next invoices. Those that were issued stay as they are.
        </Text>
        <Loaded query={query}>
          {(company) => <CompanyForm company={company} organization={organization} />}
        </Loaded>
      </Stack>
    </Paper>
  )
}

const fieldsOf = (company: Company) => ({
  name: company.name ?? '',
  address: company.address.join('\n'),
  country: company.country ?? '',
  tax_id: company.tax_id ?? '',
  email: company.email ?? '',
  purchase_order: company.purchase_order ?? '',
  mail_invoices: company.mail_invoices,
  billing_email: company.billing_email ?? '',
})
type Fields = ReturnType<typeof fieldsOf>

const textOrNull = (text: string) => text.trim() || null

const toBody = (fields: Fields) => ({
  name: textOrNull(fields.name),
  address: fields.address.split('\n').flatMap((line) => textOrNull(line) ?? []),
  country: textOrNull(fields.country.toUpperCase()),
  tax_id: textOrNull(fields.tax_id),
  email: textOrNull(fields.email),
  purchase_order: textOrNull(fields.purchase_order),
  mail_invoices: fields.mail_invoices,
  billing_email: textOrNull(fields.billing_email),
})

/** Descriptions are below the inputs, so that those of a row are at one height. */
const below: Pick<TextInputProps, 'inputWrapperOrder'> = {
  inputWrapperOrder: ['label', 'input', 'description', 'error'],
}

function CompanyForm({ company, organization }: Owner & { company: Company }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: fieldsOf(company) })
  const save = async (fields: Fields) => {
    const body = { ...toBody(fields), organization_id: organization }
    const saved = await bodyOf(api.PUT('/api/billing/company', { body }))
    queries.setQueryData(companyQuery(organization).queryKey, saved)
    form.setInitialValues(fieldsOf(saved))
    form.setValues(fieldsOf(saved))
    notifications.show({ message: 'Saved.' })
  }
  return (
    <ResourceForm form={form} save={save} label="Save company">
      <Inputs form={form} />
    </ResourceForm>
  )
}

const Inputs = ({ form }: { form: UseFormReturnType<Fields> }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <TextInput
      label="Company name"
      {...below}
      description="Empty: the name of the account or organization"
      maxLength={200}
      autoComplete="organization"
      {...form.getInputProps('name')}
    />
    <TextInput
      label="Email for invoices"
      type="email"
      autoComplete="email"
      {...form.getInputProps('email')}
    />
    <Textarea
      label="Address"
      {...below}
      description="At most 8 lines"
      autosize
      minRows={3}
      maxRows={8}
      autoComplete="street-address"
      {...form.getInputProps('address')}
    />
    <Stack gap="sm">
      <TextInput
        label="Country"
        {...below}
        description="Two letters, such as DE"
        maxLength={2}
        autoComplete="country"
        {...form.getInputProps('country')}
      />
      <TextInput label="Tax ID or VAT number" maxLength={60} {...form.getInputProps('tax_id')} />
    </Stack>
    <TextInput
      label="Purchase order"
      {...below}
      description="Your reference on each invoice"
      maxLength={100}
      {...form.getInputProps('purchase_order')}
    />
    <Stack gap="sm">
      <TextInput
        label="Billing email"
        {...below}
        description="Empty: the email for invoices, or that of the account"
        type="email"
        maxLength={254}
        {...form.getInputProps('billing_email')}
      />
      <Switch
        label="Mail invoices and credit notes"
        {...form.getInputProps('mail_invoices', { type: 'checkbox' })}
      />
    </Stack>
  </SimpleGrid>
)
