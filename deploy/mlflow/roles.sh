#!/bin/sh
# Run once by the image of PostgreSQL: who owns what, and with the password of compose.yaml.
set -eu
for role in shipworthy_owner shipworthy_service mlflow; do
    psql -v ON_ERROR_STOP=1 -U postgres -v role="$role" -v password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE :"role" LOGIN PASSWORD :'password';
SQL
done
createdb -U postgres -O shipworthy_owner shipworthy
createdb -U postgres -O mlflow mlflow
